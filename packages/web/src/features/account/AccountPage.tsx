import { api } from '@stagi/contract/api.ts';
import { useCallForm } from '../../api/useCallForm.ts';
import { takeProfile, useUser } from '../../api/user.ts';
import { useT } from '../../i18n/i18n.ts';
import { ThemeChoice } from '../../layouts/Choices.tsx';
import { LanguageChoice } from '../../layouts/LanguageChoice.tsx';
import { Button } from '../../ui/Button.tsx';
import { Form } from '../../ui/form/Form.tsx';
import { FormItem } from '../../ui/form/FormItem.tsx';
import { TextInput } from '../../ui/form/TextInput.tsx';
import { PageHeader } from '../../ui/PageHeader.tsx';
import { toast } from '../../ui/toasts.ts';
import classes from './AccountPage.module.css';
import { AccountTabs } from './AccountTabs.tsx';
import { PasswordSection } from './PasswordSection.tsx';

export function AccountPage() {
  const t = useT();
  const { profile } = useUser();
  const { form, field, submit, loading } = useCallForm(api.user.edit, {
    initialValues: { name: profile.name },
    onDone: ({ userProfile }) => {
      takeProfile(userProfile);
      form.setInitialValues({ name: userProfile.name });
      form.reset();
      toast.success(t('Your name has been saved'));
    },
  });

  return (
    <>
      <PageHeader title={t('Account')} />
      <AccountTabs />
      <div className={classes.sections}>
        <section className={classes.section}>
          <h2>{t('You')}</h2>
          <Form onSubmit={submit} className={classes.fields}>
            <TextInput label={t('Name')} autoComplete="name" {...field('name')} />
            <div>
              <div className={classes.label}>{t('Email')}</div>
              <div>{profile.email}</div>
              <div className={classes.hint}>{t('You log in with this address.')}</div>
            </div>
            <div>
              <Button type="submit" loading={loading} disabled={!form.isDirty()}>
                {t('Save')}
              </Button>
            </div>
          </Form>
        </section>
        <PasswordSection />
        <section className={classes.section}>
          <h2>{t('Appearance')}</h2>
          <div className={classes.fields}>
            <FormItem label={t('Theme')} group="group">
              <ThemeChoice />
            </FormItem>
            <FormItem label={t('Language')} group="group">
              <LanguageChoice />
            </FormItem>
          </div>
        </section>
      </div>
    </>
  );
}
