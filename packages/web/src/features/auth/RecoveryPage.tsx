import { Stack } from '@mantine/core';
import { api } from '@stagi/contract/api.ts';
import { Suspense, useState } from 'react';
import { Link, useLocation, useSearchParams } from 'react-router';
import { useCallForm } from '../../api/useCallForm.ts';
import { useT } from '../../i18n/i18n.ts';
import { lazyComponent } from '../../lazyChunks.ts';
import { paths } from '../../paths.ts';
import { Button } from '../../ui/Button.tsx';
import { FormCard } from '../../ui/FormCard.tsx';
import { Form } from '../../ui/form/Form.tsx';
import { TextInput } from '../../ui/form/TextInput.tsx';
import { whenIdle } from '../../ui/whenIdle.ts';
import { forgetRecovery, type PendingRecovery, pendingRecovery, rememberRecovery } from './pendingRecovery.ts';

/** The second step; it is fetched while the first is sent. */
const loadSecondStep = async () => (await import('./NewPasswordForm.tsx')).NewPasswordForm;
const NewPasswordForm = lazyComponent(loadSecondStep);

/** Email, then code and new password, then signed in. The route guard redirects. */
export function RecoveryPage() {
  const [pending, setPending] = useState(pendingRecovery);

  function mailed(next: PendingRecovery): void {
    rememberRecovery(next);
    setPending(next);
  }

  function startAgain(): void {
    forgetRecovery();
    setPending(null);
  }

  return pending ? (
    <Suspense>
      <NewPasswordForm pending={pending} onMailed={mailed} onStartAgain={startAgain} />
    </Suspense>
  ) : (
    <AskForCode onMailed={mailed} />
  );
}

function AskForCode({ onMailed }: { onMailed(pending: PendingRecovery): void }) {
  const t = useT();
  const [params] = useSearchParams();
  const { state } = useLocation() as { state: { email?: string } | null };
  const { field, submit, loading } = useCallForm(api.auth.resetPasswordCode, {
    initialValues: { email: state?.email ?? '' },
    onSubmit: () => whenIdle(loadSecondStep),
    onDone: ({ flow }, { email }) => onMailed({ email, flow, mailedAt: Date.now() }),
  });

  return (
    <FormCard
      title={t('New password')}
      lead={t('We email you a code to set a new password.')}
      below={<Link to={paths.signIn(params.get('returnUrl') ?? undefined)}>{t('Back to login')}</Link>}
    >
      <Form onSubmit={submit}>
        <Stack gap={16}>
          <TextInput label={t('Email')} type="email" autoComplete="username" autoFocus {...field('email')} />
          <Button type="submit" loading={loading} fullWidth>
            {t('Send the code')}
          </Button>
        </Stack>
      </Form>
    </FormCard>
  );
}
