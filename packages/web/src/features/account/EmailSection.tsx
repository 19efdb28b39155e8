import { api } from '@stagi/contract/api.ts';
import { useState } from 'react';
import { site } from '../../api/site.ts';
import { useCall } from '../../api/useCall.ts';
import { useCallForm } from '../../api/useCallForm.ts';
import { setProfile, useUser } from '../../api/user.ts';
import { useT } from '../../i18n/i18n.ts';
import { Button } from '../../ui/Button.tsx';
import { CodeField } from '../../ui/form/CodeField.tsx';
import { Form } from '../../ui/form/Form.tsx';
import { NewCodeButton } from '../../ui/form/NewCodeButton.tsx';
import { TextInput } from '../../ui/form/TextInput.tsx';
import { toast } from '../../ui/toasts.ts';
import classes from './AccountPage.module.css';
import {
  forgetEmailChange,
  type PendingEmailChange,
  pendingEmailChange,
  rememberEmailChange,
} from './pendingEmailChange.ts';

/** The email of the account. A change asks for the new one, then for the code that was mailed there. */
export function EmailSection() {
  const t = useT();
  const { profile } = useUser();
  const [pending, setPending] = useState(() => pendingEmailChange(profile.userId));
  const [open, setOpen] = useState(false);
  /** Focus the code field only after a code was just requested, not when the page is opened. */
  const [asked, setAsked] = useState(false);

  function mailed(newEmail: string): void {
    const next = { userId: profile.userId, newEmail, mailedAt: Date.now() };
    rememberEmailChange(next);
    setPending(next);
    setAsked(true);
  }

  function end(): void {
    forgetEmailChange();
    setPending(null);
    setOpen(false);
  }

  return (
    <section className={classes.section}>
      <h2>{t('Email')}</h2>
      <div className={classes.fields}>
        <div>
          <div className={classes.value}>{profile.email}</div>
          {!site().isPasswordOff && <div className={classes.hint}>{t('You log in with this address.')}</div>}
        </div>
        {pending ? (
          <Confirm pending={pending} autoFocus={asked} onMailed={mailed} onEnd={end} />
        ) : open ? (
          <NewAddress onMailed={mailed} onEnd={end} />
        ) : (
          <div>
            <Button color="gray" onClick={() => setOpen(true)}>
              {t('Change the address')}
            </Button>
          </div>
        )}
      </div>
    </section>
  );
}

function NewAddress({ onMailed, onEnd }: { onMailed(newEmail: string): void; onEnd(): void }) {
  const t = useT();
  const { profile } = useUser();
  const { field, submit, loading } = useCallForm(api.account.changeEmail, {
    initialValues: { newEmail: '' },
    alsoCheck: ({ newEmail }): Record<string, string> =>
      newEmail.trim().toLowerCase() === profile.email
        ? { newEmail: 'A new email must differ from the current one' }
        : {},
    onDone: (_, { newEmail }) => onMailed(newEmail),
  });
  return (
    <Form onSubmit={submit} className={classes.fields}>
      <TextInput
        label={t('New email')}
        type="email"
        autoComplete="email"
        autoFocus
        description={t('We email a code there. Changing it logs out all your other devices.')}
        {...field('newEmail')}
      />
      <div className={classes.buttons}>
        <Button type="submit" loading={loading}>
          {t('Send the code')}
        </Button>
        <Button color="gray" look="quiet" onClick={onEnd}>
          {t('Cancel')}
        </Button>
      </div>
    </Form>
  );
}

interface ConfirmProps {
  pending: PendingEmailChange;
  autoFocus: boolean;
  onMailed(newEmail: string): void;
  onEnd(): void;
}

function Confirm({ pending: { newEmail, mailedAt }, autoFocus, onMailed, onEnd }: ConfirmProps) {
  const t = useT();
  const { form, field, submit, loading } = useCallForm(api.account.confirmNewEmail, {
    initialValues: { code: '' },
    onDone: ({ userProfile }) => {
      setProfile(userProfile);
      onEnd();
      toast.success(t('Your address has been changed'));
    },
  });
  const another = useCall(api.account.changeEmail, {
    onDone: () => {
      onMailed(newEmail);
      form.setFieldValue('code', '');
      toast.success(t('New code sent'));
    },
  });
  return (
    <Form onSubmit={submit} className={classes.fields}>
      <p className={classes.lead}>
        {t('We sent an email to {{email}}. The 8-digit code in it is valid for 10 minutes.', { email: newEmail })}
      </p>
      <CodeField label={t('Verification code')} autoFocus={autoFocus} {...field('code')} />
      <div className={classes.buttons}>
        <Button type="submit" loading={loading}>
          {t('Confirm the new address')}
        </Button>
        <Button color="gray" look="quiet" onClick={onEnd}>
          {t('Cancel')}
        </Button>
      </div>
      <NewCodeButton mailedAt={mailedAt} loading={another.loading} onClick={() => void another.run({ newEmail })} />
    </Form>
  );
}
