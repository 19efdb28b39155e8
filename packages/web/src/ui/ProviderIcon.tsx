import { IconBrandGithubFilled, IconBrandGoogleFilled, IconLogin2 } from '@tabler/icons-react';

const ICONS: Record<string, typeof IconLogin2> = { google: IconBrandGoogleFilled, github: IconBrandGithubFilled };

/** The mark of an identity provider; those that the operator has named share one. */
export function ProviderIcon({ provider, size }: { provider: string; size: number }) {
  const Icon = ICONS[provider] ?? IconLogin2;
  return <Icon size={size} aria-hidden="true" />;
}
