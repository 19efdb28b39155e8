import type { SiteConfiguration } from '@stagi/contract/site.ts';
import { SOCIAL_SITES } from './socialSites.tsx';

/** The operator's own sites. Of its own chunk, with its icons: prerendered pages know none of them. */
export function SocialLinks({ links }: { links: SiteConfiguration['socialLinks'] }) {
  return links.map(({ site, url }) => {
    const { label, Icon } = SOCIAL_SITES[site];
    return (
      <a key={url} href={url} target="_blank" rel="noopener noreferrer">
        <Icon size={16} aria-hidden="true" /> {label}
      </a>
    );
  });
}
