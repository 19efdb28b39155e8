import { BRAND } from '@stagi/contract/brand.ts';
import { LEGAL, MENU } from '@stagi/contract/menu.ts';
import { holdsAny } from '@stagi/contract/permissions.ts';
import { IconExternalLink } from '@tabler/icons-react';
import { Children, type ReactNode, Suspense, useId } from 'react';
import { Link } from 'react-router';
import { isMenuItemShown } from '../access/permissionChecks.ts';
import { useSite } from '../api/site.ts';
import { useUserState } from '../api/user.ts';
import { useT } from '../i18n/i18n.ts';
import { lazyComponent } from '../lazyChunks.ts';
import { paths } from '../paths.ts';
import { LanguageLinks, ThemeChoice } from '../preferences/PreferenceControls.tsx';
import { Button } from '../ui/Button.tsx';
import classes from './Footer.module.css';
import { Logo } from './header/Logo.tsx';

const SocialLinks = lazyComponent(async () => (await import('./SocialLinks.tsx')).SocialLinks);

/** Sections without an entry are left out: pages that do not exist yet, sites that the operator did not name. */
export function Footer() {
  const t = useT();
  const state = useUserState();
  const { issueTrackerUrl, socialLinks, supportEmail } = useSite();
  const permissions = state.is === 'signed-in' ? state.user.permissions : [];
  const menu = MENU.filter((item) =>
    isMenuItemShown(item, { mobile: false, anonymous: state.is === 'anonymous', permissions }),
  )
    // The header disables these with a reason; here the link would lead to /403.
    .filter(({ needs }) => state.is !== 'signed-in' || !needs || holdsAny(permissions, needs));
  return (
    <footer className={classes.footer} data-testid="footer">
      <div className={classes.inner}>
        <div className={classes.first}>
          <div className={classes.brand}>
            <Logo />
            {supportEmail && (
              <a className={classes.email} href={`mailto:${supportEmail}`}>
                {supportEmail}
              </a>
            )}
          </div>
          <Section title={t('Menu')}>
            {menu.map((item) => (
              <Link key={item.testId} to={item.route}>
                {t(item.name)}
              </Link>
            ))}
          </Section>
          <Section title={t('Legal')}>
            {LEGAL.map(({ name, route }) => (
              <Link key={route} to={route}>
                {t(name)}
              </Link>
            ))}
          </Section>
          {socialLinks.length > 0 && (
            <Section title={t('Socials')}>
              <Suspense>
                <SocialLinks links={socialLinks} />
              </Suspense>
            </Section>
          )}
          {(issueTrackerUrl || state.is === 'anonymous') && (
            <div className={classes.buttons}>
              {state.is === 'anonymous' && (
                <Button color="gray" component={Link} to={paths.signUp()}>
                  {t('Sign up')}
                </Button>
              )}
              {issueTrackerUrl && (
                <Button
                  color="gray"
                  look="quiet"
                  component="a"
                  href={issueTrackerUrl}
                  target="_blank"
                  rel="noopener noreferrer"
                  end={<IconExternalLink size={14} aria-hidden="true" />}
                >
                  {t('Report an issue')}
                </Button>
              )}
            </div>
          )}
        </div>
        <div className={classes.second}>
          <span>
            © {new Date().getFullYear()} {BRAND}
          </span>
          <div className={classes.choices}>
            <ThemeChoice />
            <LanguageLinks />
          </div>
        </div>
      </div>
    </footer>
  );
}

function Section({ title, children }: { title: string; children: ReactNode }) {
  const id = useId();
  if (Children.count(children) === 0) return null;
  return (
    <nav className={classes.section} aria-labelledby={id}>
      <h2 className={classes.heading} id={id}>
        {title}
      </h2>
      {children}
    </nav>
  );
}
