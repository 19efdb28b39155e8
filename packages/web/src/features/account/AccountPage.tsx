import { useT } from '../../i18n/i18n.ts';
import { ThemeChoice } from '../../layouts/Choices.tsx';
import { LanguageChoice } from '../../layouts/LanguageChoice.tsx';
import { FormItem } from '../../ui/form/FormItem.tsx';
import { PageHeader } from '../../ui/PageHeader.tsx';
import classes from './AccountPage.module.css';
import { AccountTabs } from './AccountTabs.tsx';
import { ConnectedSection } from './ConnectedSection.tsx';
import { DeleteSection } from './DeleteSection.tsx';
import { EmailSection } from './EmailSection.tsx';
import { PasswordSection } from './PasswordSection.tsx';
import { WorkspacesSection } from './WorkspacesSection.tsx';
import { YouSection } from './YouSection.tsx';

export function AccountPage() {
  const t = useT();
  return (
    <>
      <PageHeader title={t('Account')} />
      <AccountTabs />
      <div>
        <YouSection />
        <EmailSection />
        <PasswordSection />
        <ConnectedSection />
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
        <WorkspacesSection />
        <DeleteSection />
      </div>
    </>
  );
}
