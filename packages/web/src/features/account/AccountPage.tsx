import { site } from '../../api/site.ts';
import { useT } from '../../i18n/i18n.ts';
import { LanguageMenu } from '../../preferences/LanguageMenu.tsx';
import { ThemeChoice } from '../../preferences/PreferenceControls.tsx';
import { FormItem } from '../../ui/form/FormItem.tsx';
import { PageHeader } from '../../ui/PageHeader.tsx';
import classes from './AccountPage.module.css';
import { AccountTabs } from './AccountTabs.tsx';
import { ConnectedAccountsSection } from './ConnectedAccountsSection.tsx';
import { DeleteAccountSection } from './DeleteAccountSection.tsx';
import { EmailSection } from './EmailSection.tsx';
import { PasswordSection } from './PasswordSection.tsx';
import { ProfileSection } from './ProfileSection.tsx';
import { WorkspacesSection } from './WorkspacesSection.tsx';

export function AccountPage() {
  const t = useT();
  return (
    <>
      <PageHeader title={t('Account')} />
      <AccountTabs />
      <div>
        <ProfileSection />
        <EmailSection />
        {!site().isPasswordOff && <PasswordSection />}
        <ConnectedAccountsSection />
        <section className={classes.section}>
          <h2>{t('Appearance')}</h2>
          <div className={classes.fields}>
            <FormItem label={t('Theme')} group="group">
              <ThemeChoice />
            </FormItem>
            <FormItem label={t('Language')} group="group">
              <LanguageMenu />
            </FormItem>
          </div>
        </section>
        <WorkspacesSection />
        <DeleteAccountSection />
      </div>
    </>
  );
}
