import { useRoute } from '../navigation/useRoute.ts';
import { Notices } from '../notices/Notices.tsx';
import { GuardedOutlet } from './GuardedOutlet.tsx';
import { Header } from './header/Header.tsx';
import { LazyFooter } from './LazyFooter.tsx';
import classes from './layouts.module.css';

/** The start page: as wide as the window. */
export function HomeLayout() {
  const { footer } = useRoute();
  return (
    <div className={classes.frame}>
      <Header />
      <Notices />
      <main id="content" className={classes.wide} tabIndex={-1}>
        <GuardedOutlet />
      </main>
      {footer && <LazyFooter />}
    </div>
  );
}
