import '../i18n/englishForms.ts';
import type { ReactNode } from 'react';
import { DetailSkeleton } from '../ui/Skeletons.tsx';
import { Breadcrumbs } from './crumb.tsx';
import { Guarded } from './Guarded.tsx';
import { Header } from './Header.tsx';
import classes from './layouts.module.css';
import { Notices } from './Notices.tsx';
import { SubNav } from './SubNav.tsx';

/** The signed-in product: its sections under the header, breadcrumbs over the page. */
export function AppLayout({ feedback }: { feedback: ReactNode }) {
  return (
    <div className={classes.frame}>
      <Header />
      <Notices />
      <SubNav />
      <main id="content" className={classes.content} tabIndex={-1}>
        <Breadcrumbs />
        <Guarded waiting={<DetailSkeleton />} />
      </main>
      {feedback}
    </div>
  );
}
