import { api } from '@stagi/contract/api.ts';
import type { IdentityProvider } from '@stagi/contract/identityProviders.ts';
import { type ReactNode, useState } from 'react';
import { redirectToProvider } from '../../api/pendingProviderLogin.ts';
import { offeredProviders, providerTitle, useSite } from '../../api/site.ts';
import { useCall } from '../../api/useCall.ts';
import { useT } from '../../i18n/i18n.ts';
import { Button } from '../../ui/Button.tsx';
import { ProviderIcon } from '../../ui/ProviderIcon.tsx';
import classes from './signIn.module.css';

interface Props {
  returnUrl?: string;
  /** For a new account, where one needs an invitation. */
  invite?: string;
  onLeave?(): void;
  /** There is no form beside them. */
  isAlone?: boolean;
  /** Methods that do not depend on the configuration. */
  children?: ReactNode;
}

/** Sign-in methods besides the form: the configured identity providers, for new and existing accounts. */
export function OtherSignInMethods({ returnUrl, invite, onLeave, isAlone = false, children }: Props) {
  const t = useT();
  const offered = offeredProviders(useSite());
  /** The button keeps loading while the browser navigates away. */
  const [leaving, setLeaving] = useState<IdentityProvider | null>(null);
  const redirect = (provider: IdentityProvider) => (to: { link: string; state: string; nonce?: string }) =>
    redirectToProvider(to.link, { nonce: null, ...to, provider, purpose: 'log-in', returnUrl, invite });
  const google = useCall(api.identities.googleLink, { onDone: redirect('google') });
  const github = useCall(api.identities.githubLink, { onDone: redirect('github') });
  const openId = useCall(api.identities.openIdLink, { onDone: (to, { provider }) => redirect(provider)(to) });
  if (offered.length === 0 && !children) return null;

  async function leave(provider: IdentityProvider): Promise<void> {
    onLeave?.();
    setLeaving(provider);
    const known = { google, github }[provider];
    const gone = await (known ? known.run({}) : openId.run({ provider }));
    if (!gone) setLeaving(null);
  }

  return (
    <div className={isAlone ? classes.alone : classes.others}>
      {offered.map((provider) => (
        <Button
          key={provider}
          color={isAlone ? 'primary' : 'gray'}
          fullWidth
          icon={<ProviderIcon provider={provider} size={16} />}
          loading={leaving === provider}
          onClick={() => void leave(provider)}
          data-testid={`continue-${provider}`}
        >
          {t('Continue with {{provider}}', { provider: providerTitle(provider) })}
        </Button>
      ))}
      {children}
    </div>
  );
}
