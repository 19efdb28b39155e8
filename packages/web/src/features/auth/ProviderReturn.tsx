import { api } from '@stagi/contract/api.ts';
import type { SignInResponse } from '@stagi/contract/authResponse.ts';
import { CallError } from '@stagi/contract/errors.ts';
import type { IdentityProvider } from '@stagi/contract/identityProviders.ts';
import { useEffect, useRef, useState } from 'react';
import { Link, useNavigate } from 'react-router';
import { returnTarget } from '../../access/routeGuard.ts';
import { call } from '../../api/client.ts';
import { errorText } from '../../api/messages.ts';
import { type PendingProviderLogin, takePendingProviderLogin } from '../../api/pendingProviderLogin.ts';
import { invalidate } from '../../api/query.ts';
import { session } from '../../api/session.ts';
import { providerTitle } from '../../api/site.ts';
import { useT } from '../../i18n/i18n.ts';
import { paths } from '../../paths.ts';
import { Button } from '../../ui/Button.tsx';
import { FormCard } from '../../ui/FormCard.tsx';
import { Loader } from '../../ui/Loader.tsx';
import { Note } from '../../ui/Note.tsx';
import { toast } from '../../ui/toasts.ts';
import classes from './ProviderReturn.module.css';
import { useStartSession } from './useStartSession.ts';

/** The response of an identity provider, from the address: a proof with its state, or an error. */
export interface ProviderResponse {
  state: string | null;
  /** The ID token of Google, the authorization code of others. */
  proof: string | null;
  error: string | null;
  /** The name that the provider gives itself (RFC 9207). */
  iss?: string;
}

interface Props {
  provider: IdentityProvider;
  /** Reads the response and removes it from the address. */
  take(): ProviderResponse;
}

/** The callback of an identity provider: completes the sign-in or connection, or shows why not. */
export function ProviderReturn({ provider, take }: Props) {
  const t = useT();
  const navigate = useNavigate();
  const startSession = useStartSession();
  const [failure, setFailure] = useState<{ trip: PendingProviderLogin | null; message: string } | null>(null);
  const begun = useRef(false);
  const name = providerTitle(provider);

  useEffect(() => {
    // The response is valid once.
    if (begun.current) return;
    begun.current = true;
    void end();
  });

  async function end(): Promise<void> {
    const response = take();
    const trip = takePendingProviderLogin(provider);
    const signedIn = session.get() !== null;
    const fail = (message: string) => setFailure({ trip, message });
    // Already signed in.
    if (signedIn && trip?.purpose !== 'connect') return go(trip?.returnUrl);
    if (!trip || response.state !== trip.state)
      return fail(t('This login has expired or was already used. Try again.'));
    if (response.error === 'access_denied')
      return fail(t('You canceled the login with {{provider}}.', { provider: name }));
    if (!response.proof) return fail(t('{{provider}} did not confirm this login. Try again.', { provider: name }));
    try {
      if (trip.purpose === 'connect') {
        await connect(trip, response.proof, response.iss);
        await invalidate(api.identities.list.path);
        toast.success(t('{{provider}} is connected', { provider: name }));
        return void navigate(paths.account(), { replace: true });
      }
      const answer = await validate(trip, response.proof, response.iss);
      startSession(answer, provider, trip.returnUrl);
      if ('accessToken' in answer) go(trip.returnUrl);
    } catch (error) {
      if (!(error instanceof CallError)) throw error;
      fail(errorText(error));
    }
  }

  function go(returnUrl: string | undefined): void {
    const target = returnTarget(returnUrl, window.location.origin);
    if (target?.outcome === 'leave') window.location.replace(target.to);
    else void navigate(target?.to ?? paths.home(), { replace: true });
  }

  return (
    <div className={classes.page}>
      {failure ? (
        <Failure {...failure} />
      ) : (
        <FormCard title={t('Just a moment')}>
          <Loader label={t('Loading')} /> {t('Confirming your login with {{provider}}.', { provider: name })}
        </FormCard>
      )}
    </div>
  );
}

function Failure({ trip, message }: { trip: PendingProviderLogin | null; message: string }) {
  const t = useT();
  return (
    <FormCard title={t('That did not work')}>
      <Note tone="bad">{message}</Note>
      <div className={classes.actions}>
        {trip?.purpose === 'connect' ? (
          <Button component={Link} to={paths.account()} fullWidth>
            {t('Back to your account')}
          </Button>
        ) : (
          <Button component={Link} to={paths.signIn(trip?.returnUrl)} fullWidth>
            {t('Back to login')}
          </Button>
        )}
      </div>
    </FormCard>
  );
}

/** The response of a provider that returns a code in the query. */
export function takeCode(): ProviderResponse {
  const returned = new URLSearchParams(window.location.search);
  window.history.replaceState(window.history.state, '', window.location.pathname);
  return {
    state: returned.get('state'),
    proof: returned.get('code'),
    error: returned.get('error'),
    iss: returned.get('iss') ?? undefined,
  };
}

function validate(
  { provider, state, nonce, invite }: PendingProviderLogin,
  proof: string,
  iss: string | undefined,
): Promise<SignInResponse> {
  const quiet = { quiet: true };
  if (provider === 'google')
    return call(api.identities.validateGoogle, { token: proof, state, nonce: nonce ?? '', invite }, quiet);
  if (provider === 'github') return call(api.identities.validateGithub, { code: proof, state, invite }, quiet);
  return call(api.identities.validateOpenId, { provider, code: proof, state, iss, invite }, quiet);
}

async function connect(
  { provider, state, nonce }: PendingProviderLogin,
  proof: string,
  iss: string | undefined,
): Promise<void> {
  const returned =
    provider === 'google'
      ? { provider, token: proof, state, nonce: nonce ?? '' }
      : { provider, code: proof, state, iss: provider === 'github' ? undefined : iss };
  await call(api.identities.connect, returned, { quiet: true });
}
