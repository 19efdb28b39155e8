import type { ReactNode } from 'react';
import { useSignedIn } from '../api/session.ts';
import { Notices } from '../notices/Notices.tsx';
import { GuardedOutlet } from './GuardedOutlet.tsx';
import { Header } from './header/Header.tsx';
import { LazyFooter } from './LazyFooter.tsx';
import classes from './layouts.module.css';

/** Documentation and tutorials: always with the footer. */
export function DocsLayout({ feedback }: { feedback: ReactNode }) {
  const signedIn = useSignedIn();
  return (
    <div className={classes.frame}>
      <Header />
      <Notices />
      <main id="content" className={classes.content} tabIndex={-1}>
        <GuardedOutlet />
      </main>
      <LazyFooter />
      {signedIn && (
        <div className={classes.feedback} data-feedback>
          {feedback}
        </div>
      )}
    </div>
  );
}
