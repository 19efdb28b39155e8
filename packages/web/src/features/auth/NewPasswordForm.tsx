import { Stack } from '@mantine/core';
import { api } from '@stagi/contract/api.ts';
import { useCall } from '../../api/useCall.ts';
import { useCallForm } from '../../api/useCallForm.ts';
import { useT } from '../../i18n/i18n.ts';
import { Button } from '../../ui/Button.tsx';
import { FormCard } from '../../ui/FormCard.tsx';
import { CodeField } from '../../ui/form/CodeField.tsx';
import { Form } from '../../ui/form/Form.tsx';
import { NewCodeButton } from '../../ui/form/NewCodeButton.tsx';
import { NewPasswordFields, repetitionErrors } from '../../ui/form/NewPasswordFields.tsx';
import { toast } from '../../ui/toasts.ts';
import { forgetRecovery, type PendingRecovery } from './pendingRecovery.ts';
import { useStartSession } from './useStartSession.ts';

interface Props {
  pending: PendingRecovery;
  onMailed(pending: PendingRecovery): void;
  onStartAgain(): void;
}

/** The second step of a recovery: the mailed code and a new password. */
export function NewPasswordForm({ pending: { email, flow, mailedAt }, onMailed, onStartAgain }: Props) {
  const t = useT();
  const startSession = useStartSession();
  const { form, field, submit, loading } = useCallForm(api.auth.resetPassword, {
    initialValues: { code: '', newPassword: '', confirmation: '' },
    toInput: ({ code, newPassword }) => ({ email, code, newPassword, flow }),
    alsoCheck: ({ newPassword, confirmation }) => repetitionErrors(newPassword, confirmation),
    onDone: (answer) => {
      forgetRecovery();
      startSession(answer, 'email');
      toast.success(t('Password changed!'));
    },
  });
  const another = useCall(api.auth.resetPasswordCode, {
    onDone: (answer) => {
      onMailed({ email, flow: answer.flow, mailedAt: Date.now() });
      form.setFieldValue('code', '');
      toast.success(t('New code sent'));
    },
  });

  return (
    <FormCard
      title={t('Check your email')}
      lead={t('We sent an email to {{email}}. The 8-digit code in it is valid for 10 minutes.', { email })}
      below={
        <>
          {t('Wrong address?')}{' '}
          <button type="button" onClick={onStartAgain}>
            {t('Start again')}
          </button>
        </>
      }
    >
      <Form onSubmit={submit}>
        <Stack gap={16}>
          <input type="email" autoComplete="username" value={email} readOnly hidden />
          <CodeField label={t('Verification code')} sendsItself={false} {...field('code')} />
          <NewPasswordFields field={field} password={form.values.newPassword} />
          <Button type="submit" loading={loading} fullWidth>
            {t('Set the password and log in')}
          </Button>
          <NewCodeButton mailedAt={mailedAt} loading={another.loading} onClick={() => void another.run({ email })} />
        </Stack>
      </Form>
    </FormCard>
  );
}
