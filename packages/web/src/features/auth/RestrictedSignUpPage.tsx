import { Stack } from '@mantine/core';
import { api } from '@stagi/contract/api.ts';
import { CallError } from '@stagi/contract/errors.ts';
import { useQuery } from '@tanstack/react-query';
import { type ReactNode, Suspense } from 'react';
import { Link, useSearchParams } from 'react-router';
import { track } from '../../api/analytics.ts';
import { errorText } from '../../api/messages.ts';
import { q } from '../../api/query.ts';
import { useSite } from '../../api/site.ts';
import { useT } from '../../i18n/i18n.ts';
import { lazyComponent } from '../../lazyChunks.ts';
import { paths } from '../../paths.ts';
import { Button } from '../../ui/Button.tsx';
import { FormCard } from '../../ui/FormCard.tsx';
import { Loader } from '../../ui/Loader.tsx';
import { Note } from '../../ui/Note.tsx';
import { OtherSignInMethods } from './OtherSignInMethods.tsx';

/** Not everybody gets to see the form. */
const SignUpPage = lazyComponent(async () => (await import('./SignUpPage.tsx')).SignUpPage);

/** The sign-up where not everybody may, or not by a password: shows the way to whom it is open, and says why not to others. */
export function RestrictedSignUpPage() {
  const t = useT();
  const [params] = useSearchParams();
  const { signUp } = useSite();
  const invite = params.get('invite') ?? undefined;
  if (!signUp) return <Ways />;
  if (signUp.rule === 'off') return <NoSignUp>{t('New accounts cannot be made here')}</NoSignUp>;
  if (invite !== undefined) return <Invited invite={invite} />;
  if (signUp.rule === 'invite')
    return <NoSignUp>{t('You need an invitation to sign up here. Open the link that you were sent.')}</NoSignUp>;
  const domains = signUp.domains.join(', ');
  return <Ways hint={t('Only addresses of {{domains}} can be used here', { domains })} />;
}

/** The form, or the providers alone. */
function Ways({ invite, hint }: { invite?: string; hint?: string }) {
  const t = useT();
  const [params] = useSearchParams();
  const { isPasswordOff } = useSite();
  if (!isPasswordOff)
    return (
      <Suspense fallback={<Waiting />}>
        <SignUpPage invite={invite} emailHint={hint} />
      </Suspense>
    );
  const returnUrl = params.get('returnUrl') ?? undefined;
  return (
    <FormCard
      title={t('Sign up')}
      lead={hint}
      below={
        <>
          {t('Already have an account?')} <Link to={paths.signIn(returnUrl)}>{t('Log in')}</Link>
        </>
      }
    >
      <OtherSignInMethods
        returnUrl={returnUrl}
        invite={invite}
        isAlone
        onLeave={() => track('sign_up_button_clicked')}
      />
    </FormCard>
  );
}

/** Asks first, so that nobody fills in a form in vain. */
function Invited({ invite }: { invite: string }) {
  const { data, error, refetch, isFetching } = useQuery({
    ...q(api.signUpLinks.view, { invite }, { quiet: true }),
    staleTime: Number.POSITIVE_INFINITY,
  });
  if (data) return <Ways invite={invite} />;
  if (!error) return <Waiting />;
  // A refusal stays one.
  const isLasting = error instanceof CallError && error.status === 200;
  return (
    <NoSignUp tone="bad" retry={!isLasting && <RetryButton onRetry={() => void refetch()} loading={isFetching} />}>
      {errorText(error)}
    </NoSignUp>
  );
}

function Waiting() {
  const t = useT();
  return (
    <FormCard title={t('Sign up')}>
      <Loader label={t('Loading')} />
    </FormCard>
  );
}

function RetryButton({ onRetry, loading }: { onRetry(): void; loading: boolean }) {
  const t = useT();
  return (
    <Button color="gray" fullWidth onClick={onRetry} loading={loading}>
      {t('Try again')}
    </Button>
  );
}

function NoSignUp({ children, tone, retry }: { children: string; tone?: 'bad'; retry?: ReactNode }) {
  const t = useT();
  return (
    <FormCard title={t('Sign up')}>
      <Stack gap={16}>
        <Note tone={tone}>{children}</Note>
        {retry}
        <Button component={Link} to={paths.signIn()} fullWidth>
          {t('Log in')}
        </Button>
      </Stack>
    </FormCard>
  );
}
