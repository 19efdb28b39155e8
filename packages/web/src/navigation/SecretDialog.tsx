import { type ReactNode, useState } from 'react';
import { useT } from '../i18n/i18n.ts';
import { ConfirmDialog } from '../ui/dialogs/ConfirmDialog.tsx';
import { Dialog } from '../ui/dialogs/Dialog.tsx';
import { useLeaveBlocker } from './useLeaveBlocker.ts';

interface Props {
  opened: boolean;
  onClose(): void;
  title: string;
  /** The secret is on screen: `unsaved` until it was downloaded or copied. Null while there is none. */
  secret: 'unsaved' | 'saved' | null;
  /** The question before an unsaved secret is lost. */
  question: { title: string; lost: string };
  testId?: string;
  children(close: () => void): ReactNode;
}

/** A dialog that makes a secret and shows it for the only time. Nothing closes it unasked while the secret is unsaved. */
export function SecretDialog({ opened, onClose, title, secret, question, testId, children }: Props) {
  const t = useT();
  const [asked, setAsked] = useState(false);
  const blocker = useLeaveBlocker(secret === 'unsaved');
  const close = () => (secret === 'unsaved' ? setAsked(true) : onClose());

  return (
    <>
      <Dialog opened={opened} onClose={close} title={title} closeOnOutside={secret === null} testId={testId}>
        {children(close)}
      </Dialog>
      <ConfirmDialog
        variant="error"
        opened={asked || blocker.state === 'blocked'}
        onClose={() => {
          setAsked(false);
          blocker.reset?.();
        }}
        onConfirm={() => {
          setAsked(false);
          onClose();
          blocker.proceed?.();
        }}
        title={question.title}
        lost={[question.lost]}
        confirmLabel={t('Close anyway')}
      />
    </>
  );
}
