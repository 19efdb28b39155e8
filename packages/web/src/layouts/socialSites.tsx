import type { SocialSite } from '@stagi/contract/site.ts';
import {
  IconBrandDiscord,
  IconBrandGithub,
  IconBrandInstagram,
  IconBrandLinkedin,
  IconBrandReddit,
  IconBrandTelegram,
  IconBrandX,
  IconBrandYoutube,
} from '@tabler/icons-react';

/** Names that no language translates. */
export const SOCIAL_SITES: Record<SocialSite, { label: string; Icon: typeof IconBrandX }> = {
  discord: { label: 'Discord', Icon: IconBrandDiscord },
  github: { label: 'GitHub', Icon: IconBrandGithub },
  instagram: { label: 'Instagram', Icon: IconBrandInstagram },
  linkedin: { label: 'LinkedIn', Icon: IconBrandLinkedin },
  reddit: { label: 'Reddit', Icon: IconBrandReddit },
  telegram: { label: 'Telegram', Icon: IconBrandTelegram },
  x: { label: 'X', Icon: IconBrandX },
  youtube: { label: 'YouTube', Icon: IconBrandYoutube },
};
