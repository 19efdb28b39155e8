import { api } from '@stagi/contract/api.ts';
import { useCallForm } from '../../api/useCallForm.ts';
import { setProfile, useUser } from '../../api/user.ts';
import { useT } from '../../i18n/i18n.ts';
import { Button } from '../../ui/Button.tsx';
import { Form } from '../../ui/form/Form.tsx';
import { NewPasswordFields, repetitionErrors } from '../../ui/form/NewPasswordFields.tsx';
import { PasswordInput } from '../../ui/form/PasswordInput.tsx';
import { toast } from '../../ui/toasts.ts';
import classes from './AccountPage.module.css';

/** Changes the password, or sets the first one of an account without. */
export function PasswordSection() {
  const t = useT();
  const { profile } = useUser();
  return (
    <section className={classes.section}>
      <h2>{t('Password')}</h2>
      {profile.isPasswordExist ? <ChangePassword /> : <AddPassword />}
    </section>
  );
}

function ChangePassword() {
  const t = useT();
  const { profile } = useUser();
  const { form, field, submit, loading } = useCallForm(api.auth.changePassword, {
    initialValues: { currentPassword: '', newPassword: '', confirmation: '' },
    toInput: ({ currentPassword, newPassword }) => ({ currentPassword, newPassword }),
    alsoCheck: ({ newPassword, confirmation }) => repetitionErrors(newPassword, confirmation),
    onDone: () => {
      form.reset();
      toast.success(t('Password changed!'));
    },
  });
  return (
    <Form onSubmit={submit} className={classes.fields}>
      <input type="email" autoComplete="username" value={profile.email} readOnly hidden />
      <PasswordInput label={t('Current password')} autoComplete="current-password" {...field('currentPassword')} />
      <NewPasswordFields field={field} password={form.values.newPassword} />
      <div>
        <Button type="submit" loading={loading} disabled={!form.isDirty()}>
          {t('Change password')}
        </Button>
        <p className={classes.hint}>{t('Changing it logs out all your other devices.')}</p>
      </div>
    </Form>
  );
}

function AddPassword() {
  const t = useT();
  const { profile } = useUser();
  const { form, field, submit, loading } = useCallForm(api.user.addPassword, {
    initialValues: { newPassword: '', confirmation: '' },
    toInput: ({ newPassword }) => ({ password: newPassword }),
    fieldOf: (path) => (path === 'password' ? 'newPassword' : path),
    alsoCheck: ({ newPassword, confirmation }) => repetitionErrors(newPassword, confirmation),
    onDone: () => {
      setProfile({ ...profile, isPasswordExist: true });
      toast.success(t('Password added!'));
    },
  });
  return (
    <Form onSubmit={submit} className={classes.fields}>
      <p className={classes.hint}>{t('Your account has no password yet. With one you can also log in by email.')}</p>
      <input type="email" autoComplete="username" value={profile.email} readOnly hidden />
      <NewPasswordFields field={field} password={form.values.newPassword} />
      <div>
        <Button type="submit" loading={loading} disabled={!form.isDirty()}>
          {t('Add password')}
        </Button>
      </div>
    </Form>
  );
}
