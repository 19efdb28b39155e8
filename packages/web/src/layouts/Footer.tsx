import { BRAND } from '@stagi/contract/brand.ts';
import { FURTHER_MENU, LEGAL, MENU } from '@stagi/contract/menu.ts';
import { holdsAny } from '@stagi/contract/permissions.ts';
import { Children, type ReactNode, Suspense, useId } from 'react';
import { Link } from 'react-router';
import { isMenuItemShown } from '../access/permissionChecks.ts';
import { useOffersSignUp, useSite } from '../api/site.ts';
import { useUserState } from '../api/user.ts';
import { useT } from '../i18n/i18n.ts';
import { lazyComponent } from '../lazyChunks.ts';
import { MenuLink } from '../navigation/MenuLink.tsx';
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
  const anonymous = state.is === 'anonymous';
  const offersSignUp = useOffersSignUp() && anonymous;
  const menu = MENU.filter(
    (item) =>
      // Visitors find the blog here: the header shows it only to those who may rent.
      (anonymous && item.shownWith) || isMenuItemShown(item, { mobile: false, anonymous, permissions }),
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
            {[...menu, ...FURTHER_MENU].map((item) => (
              <MenuLink key={item.testId} item={item} />
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
          {(issueTrackerUrl || offersSignUp) && (
            <div className={classes.buttons}>
              {offersSignUp && (
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
                  // A sign, not an icon: that one is in the code of signed-in pages.
                  end={<span aria-hidden="true">↗</span>}
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
