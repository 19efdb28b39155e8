import { Stack } from '@mantine/core';
import { api } from '@stagi/contract/api.ts';
import { useState } from 'react';
import { encode } from 'uqr';
import { useCallForm } from '../../../api/useCallForm.ts';
import { useT } from '../../../i18n/i18n.ts';
import { CopyButton } from '../../../ui/CopyButton.tsx';
import { Dialog } from '../../../ui/dialogs/Dialog.tsx';
import { DialogButtons } from '../../../ui/dialogs/DialogButtons.tsx';
import { CodeField } from '../../../ui/form/CodeField.tsx';
import { Form } from '../../../ui/form/Form.tsx';
import { toast } from '../../../ui/toasts.ts';
import { RecoveryCodesDialog } from './RecoveryCodesDialog.tsx';
import { refetchFactors } from './refetchFactors.ts';
import own from './security.module.css';

interface Props {
  secret: string;
  uri: string;
  onClose(): void;
}

/** Shows the secret for an authenticator app, and enables the app once its code is right. */
export function TotpDialog({ secret, uri, onClose }: Props) {
  const t = useT();
  const [codes, setCodes] = useState<readonly string[] | null>(null);
  const { field, submit, loading } = useCallForm(api.secondFactor.totpConfirm, {
    initialValues: { code: '' },
    onDone: ({ recoveryCodes }) => {
      toast.success(t('Your authenticator app is set up'));
      refetchFactors();
      if (recoveryCodes) setCodes(recoveryCodes);
      else onClose();
    },
  });
  if (codes) return <RecoveryCodesDialog codes={codes} onClose={onClose} />;
  return (
    <Dialog opened onClose={onClose} title={t('Set up an authenticator app')} closeOnOutside={false} testId="totp">
      <Form onSubmit={submit}>
        <Stack gap={16}>
          <p className={own.text}>{t('Scan this QR code with an authenticator app, or enter the key.')}</p>
          <QrCode text={uri} label={t('QR code for your authenticator app')} />
          <div className={own.secret}>
            <code className="mono" data-testid="totp-secret">
              {secret.replace(/(.{4})(?=.)/g, '$1 ')}
            </code>
            <CopyButton value={secret} label={t('Copy the key')} />
          </div>
          <CodeField label={t('Code from the app')} digits={6} data-autofocus {...field('code')} />
          <DialogButtons onCancel={onClose} submitLabel={t('Confirm')} loading={loading} testId="totp-confirm" />
        </Stack>
      </Form>
    </Dialog>
  );
}

/** Dark on light in either theme: scanners fail on inverted codes. */
function QrCode({ text, label }: { text: string; label: string }) {
  const { data, size } = encode(text, { border: 2, ecc: 'M' });
  const path = data.flatMap((row, y) => row.flatMap((dark, x) => (dark ? [`M${x} ${y}h1v1h-1z`] : []))).join('');
  return (
    <svg className={own.qr} viewBox={`0 0 ${size} ${size}`} role="img" aria-label={label} shapeRendering="crispEdges">
      <rect width={size} height={size} fill="#fff" />
      <path d={path} fill="#000" />
    </svg>
  );
}
