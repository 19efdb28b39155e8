import { Button } from '@mantine/core';
import { MENU } from '@stagi/contract/menu.ts';
import { BRAND } from '@stagi/contract/money.ts';
import { Link } from 'react-router';
import { useUserState } from '../api/user.ts';
import { useT } from '../i18n/i18n.ts';
import { paths } from '../paths.ts';
import { LanguageChoice, ThemeChoice } from './Choices.tsx';
import classes from './Footer.module.css';
import { Logo } from './Logo.tsx';

/** Holds the sections that exist; others come with their pages. */
export function Footer() {
  const t = useT();
  const state = useUserState();
  return (
    <footer className={classes.footer}>
      <div className={classes.inner}>
        <div className={classes.first}>
          <Logo />
          <nav className={classes.links} aria-label={t('Menu')}>
            {MENU.filter((item) => !item.onlyAnonymousMobile).map((item) => (
              <Link key={item.testId} to={item.route}>
                {t(item.name)}
              </Link>
            ))}
          </nav>
          {state.is === 'anonymous' && (
            <Button component={Link} to={paths.signUp()} variant="default" className={classes.signUp}>
              {t('Sign up')}
            </Button>
          )}
        </div>
        <div className={classes.second}>
          <span>
            © {new Date().getFullYear()} {BRAND}
          </span>
          <div className={classes.choices}>
            <ThemeChoice />
            <LanguageChoice />
          </div>
        </div>
      </div>
    </footer>
  );
}
