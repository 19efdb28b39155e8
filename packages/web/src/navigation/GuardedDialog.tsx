import { type ReactNode, useState } from 'react';
import { useT } from '../i18n/i18n.ts';
import { ConfirmDialog } from '../ui/dialogs/ConfirmDialog.tsx';
import { Dialog, type DialogSize } from '../ui/dialogs/Dialog.tsx';
import { useLeaveBlocker } from './useLeaveBlocker.ts';

interface Props {
  opened: boolean;
  onClose(): void;
  title: ReactNode;
  /** Something in it would be lost. */
  atRisk: boolean;
  /** The question before it is lost. */
  question: { title: string; lost: string };
  /** Also while only the query of the address changes. */
  withSearch?: boolean;
  closeOnOutside?: boolean;
  size?: DialogSize;
  testId?: string;
  children(close: () => void): ReactNode;
}

/** A dialog that nothing closes unasked, neither a key nor a link nor Back, while something in it would be lost. */
export function GuardedDialog({ opened, onClose, atRisk, question, withSearch, children, ...dialog }: Props) {
  const t = useT();
  const [asked, setAsked] = useState(false);
  const blocker = useLeaveBlocker(atRisk, { withSearch });
  const close = () => (atRisk ? setAsked(true) : onClose());
  return (
    <>
      <Dialog opened={opened} onClose={close} closeOnOutside={!atRisk} {...dialog}>
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
