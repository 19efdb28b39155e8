import '../i18n/englishPlurals.ts';
import type { ReactNode } from 'react';
import { Breadcrumbs } from '../navigation/pageTitle.tsx';
import { Notices } from '../notices/Notices.tsx';
import { DetailSkeleton } from '../ui/Skeletons.tsx';
import { GuardedOutlet } from './GuardedOutlet.tsx';
import { Header } from './header/Header.tsx';
import { SectionTabs } from './header/SectionTabs.tsx';
import classes from './layouts.module.css';

/** The signed-in product: its sections under the header, breadcrumbs over the page. */
export function AppLayout({ feedback }: { feedback: ReactNode }) {
  return (
    <div className={classes.frame}>
      <Header />
      <Notices />
      <SectionTabs />
      <main id="content" className={classes.content} tabIndex={-1}>
        <Breadcrumbs />
        <GuardedOutlet waiting={<DetailSkeleton />} />
      </main>
      <div className={classes.feedback} data-feedback>
        {feedback}
      </div>
    </div>
  );
}
