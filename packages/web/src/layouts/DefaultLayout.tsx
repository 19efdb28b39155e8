import type { ReactNode } from 'react';
import { useSignedIn } from '../api/session.ts';
import { useUserState } from '../api/user.ts';
import { Breadcrumbs } from '../navigation/pageTitle.tsx';
import { useRoute } from '../navigation/useRoute.ts';
import { Notices } from '../notices/Notices.tsx';
import { GuardedOutlet } from './GuardedOutlet.tsx';
import { Header } from './header/Header.tsx';
import { LazyFooter } from './LazyFooter.tsx';
import classes from './layouts.module.css';

/** Public and plain pages. */
export function DefaultLayout({ feedback }: { feedback: ReactNode }) {
  const { footer } = useRoute();
  const signedIn = useSignedIn();
  // While the page waits for the account it is empty: the footer would be drawn where the page comes. It is hidden, not
  // left out: it reads the account too, and would ask for one that failed again whenever it comes back.
  const isWaiting = useUserState().is === 'loading';
  return (
    <div className={classes.frame}>
      <Header />
      <Notices />
      <main id="content" className={classes.content} tabIndex={-1}>
        <Breadcrumbs />
        <GuardedOutlet />
      </main>
      {footer && (
        <div hidden={isWaiting}>
          <LazyFooter />
        </div>
      )}
      {signedIn && (
        <div className={classes.feedback} data-feedback>
          {feedback}
        </div>
      )}
    </div>
  );
}
