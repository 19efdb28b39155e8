import { useState } from 'react';
import type { ContactDialogProps } from '../../featureSlots.ts';
import { useT } from '../../i18n/i18n.ts';
import { GuardedDialog } from '../../navigation/GuardedDialog.tsx';
import { ResultDialog } from '../../ui/dialogs/ResultDialog.tsx';
import { ContactForm } from './ContactForm.tsx';

/** The contact form, and once it is sent what happens next. */
export function ContactDialog({ opened, onClose, about }: ContactDialogProps) {
  const t = useT();
  const [typed, setTyped] = useState(false);
  /** The address that the answer goes to. */
  const [sentFrom, setSentFrom] = useState<string | null>(null);

  function close(): void {
    setTyped(false);
    setSentFrom(null);
    onClose();
  }

  return (
    <>
      <GuardedDialog
        opened={opened && sentFrom === null}
        onClose={close}
        title={about ? t('Ask about {{model}}', { model: about.model.name }) : t('Contact Us')}
        atRisk={opened && typed}
        question={{ title: t('Close without sending?'), lost: t('Your message') }}
        testId="contact-dialog"
      >
        {(cancel) => (
          <ContactForm
            about={about}
            onTyped={setTyped}
            onCancel={cancel}
            onSent={(email) => {
              setTyped(false);
              setSentFrom(email);
            }}
          />
        )}
      </GuardedDialog>
      <ResultDialog
        opened={opened && sentFrom !== null}
        onClose={close}
        variant="success"
        title={t('Thanks, we have your message')}
      >
        <p style={{ margin: 0, overflowWrap: 'anywhere' }}>
          {t('A person reads it and answers to {{email}}. No confirmation is mailed before that.', {
            email: sentFrom ?? '',
          })}
        </p>
      </ResultDialog>
    </>
  );
}
