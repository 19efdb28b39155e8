import { LanguageLinks, ThemeChoice } from './Choices.tsx';
import { Guarded } from './Guarded.tsx';
import { Header } from './Header.tsx';
import classes from './layouts.module.css';
import { Notices } from './Notices.tsx';

/** One form, nothing beside it. */
export function SignLayout() {
  return (
    <div className={classes.frame}>
      <Header />
      <Notices />
      <main id="content" className={classes.sign} tabIndex={-1}>
        <Guarded />
      </main>
      <footer className={classes.choices}>
        <ThemeChoice />
        <LanguageLinks />
      </footer>
    </div>
  );
}
