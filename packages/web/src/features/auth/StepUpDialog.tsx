import { Stack } from '@mantine/core';
import { api } from '@stagi/contract/api.ts';
import type { SecondFactorMethod } from '@stagi/contract/authResponse.ts';
import { CODE_RESEND_SECONDS } from '@stagi/contract/mailedCodes.ts';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { call } from '../../api/client.ts';
import { errorText } from '../../api/messages.ts';
import { q } from '../../api/query.ts';
import { useCall } from '../../api/useCall.ts';
import { useCallForm } from '../../api/useCallForm.ts';
import { useT } from '../../i18n/i18n.ts';
import { Button } from '../../ui/Button.tsx';
import { Dialog } from '../../ui/dialogs/Dialog.tsx';
import { showDialog } from '../../ui/dialogs/DialogHost.tsx';
import { ErrorState } from '../../ui/ErrorState.tsx';
import { CodeField } from '../../ui/form/CodeField.tsx';
import { Form } from '../../ui/form/Form.tsx';
import { NewCodeButton } from '../../ui/form/NewCodeButton.tsx';
import { PanelSkeleton } from '../../ui/Skeletons.tsx';
import { toast } from '../../ui/toasts.ts';
import classes from './SecondFactorForm.module.css';
import { SecondFactorForm } from './SecondFactorForm.tsx';
import { usePasskey } from './usePasskey.ts';

let asking: Promise<boolean> | null = null;

/** Step-up authentication: asks the person to authenticate again and returns whether they did. Concurrent calls share one dialog. */
export function askStepUp(): Promise<boolean> {
  asking ??= new Promise<boolean>((resolve) => {
    const close = showDialog(({ opened, onClose }) => (
      <StepUpDialog
        opened={opened}
        onClose={() => {
          onClose();
          resolve(false);
        }}
        onDone={() => {
          resolve(true);
          close();
        }}
      />
    ));
  }).finally(() => {
    asking = null;
  });
  return asking;
}

interface Props {
  opened: boolean;
  onClose(): void;
  onDone(): void;
}

function StepUpDialog({ opened, onClose, onDone }: Props) {
  const t = useT();
  return (
    <Dialog
      opened={opened}
      onClose={onClose}
      title={t('Confirm it’s you')}
      size="xs"
      closeOnOutside={false}
      testId="step-up"
    >
      <Ways onDone={onDone} />
    </Dialog>
  );
}

/** Mounted only while the dialog is open, so that each opening starts fresh. */
function Ways({ onDone }: Pick<Props, 'onDone'>) {
  const begun = useQuery({
    ...q(api.secondFactor.stepUpBegin, {}),
    gcTime: 0,
    staleTime: Number.POSITIVE_INFINITY,
    retry: false,
  });
  if (begun.isPending) return <PanelSkeleton rows={2} />;
  if (begun.isError)
    return (
      <ErrorState message={errorText(begun.error)} onRetry={() => void begun.refetch()} retrying={begun.isFetching} />
    );
  const { methods, mailed } = begun.data;
  return mailed ? <ByMail {...mailed} onDone={onDone} /> : <ByFactor methods={methods} onDone={onDone} />;
}

function ByFactor({ methods, onDone }: { methods: readonly SecondFactorMethod[]; onDone(): void }) {
  const t = useT();
  const form = useCallForm(api.secondFactor.stepUp, { initialValues: { code: '' }, onDone });
  const passkey = usePasskey({
    ask: () => call(api.secondFactor.stepUpOptions, {}, { handlesMessages: true }),
    show: async (assertion) => {
      await call(api.secondFactor.stepUp, { assertion }, { handlesMessages: true });
      onDone();
    },
  });
  return (
    <Stack gap={16}>
      <p className={classes.text}>{t('This protects your account. You are not asked again for 10 minutes.')}</p>
      <SecondFactorForm methods={methods} form={form} passkey={passkey} submitLabel={t('Confirm')} />
    </Stack>
  );
}

function ByMail({ to, nextInSeconds, onDone }: { to: string; nextInSeconds: number; onDone(): void }) {
  const t = useT();
  const [mailedAt, setMailedAt] = useState(() => Date.now() - (CODE_RESEND_SECONDS - nextInSeconds) * 1000);
  const { form, field, submit, loading } = useCallForm(api.secondFactor.stepUp, {
    initialValues: { code: '' },
    onDone,
  });
  const another = useCall(api.secondFactor.stepUpBegin, {
    onDone: () => {
      setMailedAt(Date.now());
      form.setFieldValue('code', '');
      toast.success(t('New code sent'));
    },
  });
  return (
    <Form onSubmit={submit}>
      <Stack gap={16}>
        <p className={classes.text}>
          {t('We sent an 8-digit code to {{email}}. It is valid for 10 minutes.', { email: to })}
        </p>
        <CodeField label={t('Verification code')} data-autofocus {...field('code')} />
        <Button type="submit" loading={loading} fullWidth>
          {t('Confirm')}
        </Button>
        <NewCodeButton
          mailedAt={mailedAt}
          loading={another.loading}
          onClick={() => void another.run({ newCode: true })}
        />
      </Stack>
    </Form>
  );
}
