import { Stack } from '@mantine/core';
import { api } from '@stagi/contract/api.ts';
import { Link, Navigate, useSearchParams } from 'react-router';
import { track } from '../../api/analytics.ts';
import { session } from '../../api/session.ts';
import { useCallForm } from '../../api/useCallForm.ts';
import { useT } from '../../i18n/i18n.ts';
import { paths } from '../../paths.ts';
import { Button } from '../../ui/Button.tsx';
import { FormCard } from '../../ui/FormCard.tsx';
import { CodeField } from '../../ui/form/CodeField.tsx';
import { Form } from '../../ui/form/Form.tsx';
import { forgetSignUp, pendingSignUp } from './pendingSignUp.ts';
import { ResendCode } from './ResendCode.tsx';

/** The mailed code completes the sign-up and starts the session. The route guard redirects. */
export function ConfirmationPage() {
  const [params] = useSearchParams();
  const email = params.get('email');
  const returnUrl = params.get('returnUrl') ?? undefined;
  return email ? (
    <Confirmation email={email} returnUrl={returnUrl} />
  ) : (
    <Navigate to={paths.signUp(returnUrl)} replace />
  );
}

function Confirmation({ email, returnUrl }: { email: string; returnUrl?: string }) {
  const t = useT();
  const { flow, invite } = pendingSignUp(email) ?? {};
  const { form, field, submit, loading } = useCallForm(api.auth.verifyCode, {
    initialValues: { code: '' },
    toInput: ({ code }) => ({ email, code, flow }),
    onSubmit: () => track('confirmation_code_button_clicked'),
    onDone: (tokens) => {
      forgetSignUp();
      session.begin(tokens, 'email');
    },
  });

  return (
    <FormCard
      title={t('Check your email')}
      lead={t('We sent an 8-digit code to {{email}}. It is valid for 10 minutes.', { email })}
      below={
        <>
          {t('Wrong address?')} <Link to={paths.signUp(returnUrl, invite)}>{t('Sign up again')}</Link>
        </>
      }
    >
      <Form onSubmit={submit}>
        <Stack gap={16}>
          <CodeField label={t('Verification code')} {...field('code')} />
          <Button type="submit" loading={loading} fullWidth>
            {t('Confirm')}
          </Button>
          <ResendCode email={email} flow={flow} onSent={() => form.setFieldValue('code', '')} />
        </Stack>
      </Form>
    </FormCard>
  );
}
