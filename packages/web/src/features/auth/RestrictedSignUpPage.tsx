import { Stack } from '@mantine/core';
import { api } from '@stagi/contract/api.ts';
import { CallError } from '@stagi/contract/errors.ts';
import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { Link, useSearchParams } from 'react-router';
import { errorText } from '../../api/messages.ts';
import { q } from '../../api/query.ts';
import { useSite } from '../../api/site.ts';
import { useT } from '../../i18n/i18n.ts';
import { paths } from '../../paths.ts';
import { Button } from '../../ui/Button.tsx';
import { FormCard } from '../../ui/FormCard.tsx';
import { Loader } from '../../ui/Loader.tsx';
import { Note } from '../../ui/Note.tsx';
import { SignUpPage } from './SignUpPage.tsx';

/** The sign-up where not everybody may: shows the form to whom it would accept, and says why not to others. */
export function RestrictedSignUpPage() {
  const t = useT();
  const [params] = useSearchParams();
  const { signUp } = useSite();
  const invite = params.get('invite') ?? undefined;
  if (signUp?.rule === 'off') return <NoSignUp>{t('New accounts cannot be made here')}</NoSignUp>;
  if (invite !== undefined) return <Invited invite={invite} />;
  if (signUp?.rule === 'invite')
    return <NoSignUp>{t('You need an invitation to sign up here. Open the link that you were sent.')}</NoSignUp>;
  const domains = signUp?.domains.join(', ') ?? '';
  return <SignUpPage emailHint={t('Only addresses of {{domains}} can be used here', { domains })} />;
}

/** Asks first, so that nobody fills in a form in vain. */
function Invited({ invite }: { invite: string }) {
  const t = useT();
  const { data, error, refetch, isFetching } = useQuery({
    ...q(api.signUpLinks.view, { invite }, { quiet: true }),
    staleTime: Number.POSITIVE_INFINITY,
  });
  if (data) return <SignUpPage invite={invite} />;
  if (!error)
    return (
      <FormCard title={t('Sign up')}>
        <Loader label={t('Loading')} />
      </FormCard>
    );
  // A refusal stays one.
  const isLasting = error instanceof CallError && error.status === 200;
  return (
    <NoSignUp tone="bad" retry={!isLasting && <RetryButton onRetry={() => void refetch()} loading={isFetching} />}>
      {errorText(error)}
    </NoSignUp>
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
