import type { ReactNode } from 'react';
import { Footer } from './Footer.tsx';
import { Guarded } from './Guarded.tsx';
import { Header } from './Header.tsx';
import classes from './layouts.module.css';
import { Notices } from './Notices.tsx';
import { useRoute } from './useRoute.ts';

/** Public and plain pages. */
export function DefaultLayout({ feedback }: { feedback: ReactNode }) {
  const { footer } = useRoute();
  return (
    <div className={classes.frame}>
      <Header />
      <Notices />
      <main id="content" className={classes.content} tabIndex={-1}>
        <Guarded />
      </main>
      {footer && <Footer />}
      {feedback}
    </div>
  );
}
