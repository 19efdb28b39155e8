import type { ReactNode } from 'react';
import { Footer } from './Footer.tsx';
import { Guarded } from './Guarded.tsx';
import { Header } from './Header.tsx';
import classes from './layouts.module.css';
import { Notices } from './Notices.tsx';

/** Pages to read: always with the footer. */
export function DocsLayout({ feedback }: { feedback: ReactNode }) {
  return (
    <div className={classes.frame}>
      <Header />
      <Notices />
      <main id="content" className={classes.content} tabIndex={-1}>
        <Guarded />
      </main>
      <Footer />
      {feedback}
    </div>
  );
}
