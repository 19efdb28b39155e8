import { api } from '@stagi/contract/api.ts';
import { useCallForm } from '../../api/useCallForm.ts';
import { setProfile, useUser } from '../../api/user.ts';
import { useT } from '../../i18n/i18n.ts';
import { Button } from '../../ui/Button.tsx';
import { Form } from '../../ui/form/Form.tsx';
import { TextInput } from '../../ui/form/TextInput.tsx';
import { toast } from '../../ui/toasts.ts';
import classes from './AccountPage.module.css';
import { PictureField } from './PictureField.tsx';

/** The picture and name that others see. */
export function ProfileSection() {
  const t = useT();
  const { profile } = useUser();
  const { form, field, submit, loading } = useCallForm(api.user.edit, {
    initialValues: { name: profile.name },
    onDone: ({ userProfile }) => {
      setProfile(userProfile);
      form.setInitialValues({ name: userProfile.name });
      form.reset();
      toast.success(t('Your name has been saved'));
    },
  });
  return (
    <section className={classes.section}>
      <h2>{t('You')}</h2>
      <div className={classes.fields}>
        <PictureField />
        <Form onSubmit={submit} className={classes.fields}>
          <TextInput label={t('Name')} autoComplete="name" {...field('name')} />
          <div>
            <Button type="submit" loading={loading} disabled={!form.isDirty()}>
              {t('Save')}
            </Button>
          </div>
        </Form>
      </div>
    </section>
  );
}
