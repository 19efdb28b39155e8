import { api } from '@stagi/contract/api.ts';
import { type IdentityProvider, PROVIDER_NAMES } from '@stagi/contract/identityProviders.ts';
import { IconBrandGithubFilled, IconBrandGoogleFilled } from '@tabler/icons-react';
import { type ReactNode, useState } from 'react';
import { redirectToProvider } from '../../api/pendingProviderLogin.ts';
import { useSite } from '../../api/site.ts';
import { useCall } from '../../api/useCall.ts';
import { useT } from '../../i18n/i18n.ts';
import { Button } from '../../ui/Button.tsx';
import classes from './signIn.module.css';

const ICONS = { google: IconBrandGoogleFilled, github: IconBrandGithubFilled };

interface Props {
  returnUrl?: string;
  /** For a new account, where one needs an invitation. */
  invite?: string;
  onLeave?(): void;
  /** Methods that do not depend on the configuration. */
  children?: ReactNode;
}

/** Sign-in methods besides the form: the configured identity providers, for new and existing accounts. */
export function OtherSignInMethods({ returnUrl, invite, onLeave, children }: Props) {
  const t = useT();
  const { identityProviders } = useSite();
  /** The button keeps loading while the browser navigates away. */
  const [leaving, setLeaving] = useState<IdentityProvider | null>(null);
  const google = useCall(api.identities.googleLink, {
    onDone: ({ link, state, nonce }) =>
      redirectToProvider(link, { provider: 'google', state, nonce, purpose: 'log-in', returnUrl, invite }),
  });
  const github = useCall(api.identities.githubLink, {
    onDone: ({ link, state }) =>
      redirectToProvider(link, { provider: 'github', state, nonce: null, purpose: 'log-in', returnUrl, invite }),
  });
  if (identityProviders.length === 0 && !children) return null;

  async function leave(provider: IdentityProvider): Promise<void> {
    onLeave?.();
    setLeaving(provider);
    const gone = await (provider === 'google' ? google : github).run({});
    if (!gone) setLeaving(null);
  }

  return (
    <div className={classes.others}>
      {identityProviders.map((provider) => {
        const Icon = ICONS[provider];
        return (
          <Button
            key={provider}
            color="gray"
            fullWidth
            icon={<Icon size={16} aria-hidden="true" />}
            loading={leaving === provider}
            onClick={() => void leave(provider)}
            data-testid={`continue-${provider}`}
          >
            {t('Continue with {{provider}}', { provider: PROVIDER_NAMES[provider] })}
          </Button>
        );
      })}
      {children}
    </div>
  );
}
