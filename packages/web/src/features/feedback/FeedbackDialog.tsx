import { useState } from 'react';
import { site } from '../../api/site.ts';
import { useT } from '../../i18n/i18n.ts';
import { ConfirmDialog } from '../../ui/dialogs/ConfirmDialog.tsx';
import { Dialog } from '../../ui/dialogs/Dialog.tsx';
import type { CloseReason } from '../../ui/dialogs/dialogStack.ts';
import { ResultDialog } from '../../ui/dialogs/ResultDialog.tsx';
import classes from './Feedback.module.css';
import { FeedbackForm } from './FeedbackForm.tsx';

export interface FeedbackDialogProps {
  opened: boolean;
  onClose(): void;
}

/** The feedback form, and after a response its result. Closing the form asks before typed text is lost. */
export function FeedbackDialog({ opened, onClose }: FeedbackDialogProps) {
  const t = useT();
  const { issueTrackerUrl } = site();
  const [typed, setTyped] = useState(false);
  const [asking, setAsking] = useState(false);
  /** The result replaces the form. */
  const [result, setResult] = useState<'sent' | 'failed' | null>(null);

  function close(by?: CloseReason): void {
    if (typed && by !== 'route') setAsking(true);
    else onClose();
  }

  return (
    <>
      <Dialog
        opened={opened && result === null}
        onClose={close}
        closeOnOutside={!typed}
        title={t('Spotted a bug? Let us know')}
        testId="feedback-dialog"
      >
        {issueTrackerUrl && (
          <p className={classes.tracker}>
            <a href={issueTrackerUrl} target="_blank" rel="noreferrer">
              {t('Prefer GitHub? Submit here')}
              <span className="visually-hidden"> {t('opens in a new tab')}</span>
            </a>
          </p>
        )}
        <FeedbackForm
          onTyped={setTyped}
          onCancel={() => close()}
          onSent={() => setResult('sent')}
          onFailed={() => setResult('failed')}
        />
      </Dialog>
      <ConfirmDialog
        opened={opened && asking}
        onClose={() => setAsking(false)}
        onConfirm={() => {
          setAsking(false);
          onClose();
        }}
        title={t('Discard your feedback?')}
        confirmLabel={t('Discard')}
        cancelLabel={t('Keep writing')}
        size="xs"
      >
        {t('Your text and images will be lost.')}
      </ConfirmDialog>
      <ResultDialog
        opened={opened && result === 'sent'}
        onClose={onClose}
        variant="success"
        title={t("Thanks for your feedback! We'll follow up by email if needed.")}
      />
      <ResultDialog
        opened={opened && result === 'failed'}
        onClose={onClose}
        variant="warning"
        title={t('Something went wrong. Please try again.')}
      />
    </>
  );
}
