import { Breadcrumbs } from '../navigation/pageTitle.tsx';
import { Notices } from '../notices/Notices.tsx';
import { LanguageLinks, ThemeChoice } from '../preferences/PreferenceControls.tsx';
import { GuardedOutlet } from './GuardedOutlet.tsx';
import { Header } from './header/Header.tsx';
import classes from './layouts.module.css';

/** One form, nothing beside it. */
export function SignLayout() {
  return (
    <div className={classes.frame}>
      <Header />
      <Notices />
      <main id="content" className={classes.sign} tabIndex={-1}>
        <div className={classes.crumbs}>
          <Breadcrumbs />
        </div>
        <GuardedOutlet />
      </main>
      <footer className={classes.choices}>
        <ThemeChoice />
        <LanguageLinks />
      </footer>
    </div>
  );
}
