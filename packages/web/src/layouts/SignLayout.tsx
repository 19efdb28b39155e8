import { Suspense, useSyncExternalStore } from 'react';
import { useLocation } from 'react-router';
import { lazyComponent } from '../lazyChunks.ts';
import { Breadcrumbs } from '../navigation/pageTitle.tsx';
import { Notices } from '../notices/Notices.tsx';
import { LanguageLinks, ThemeChoice } from '../preferences/PreferenceControls.tsx';
import { GuardedOutlet } from './GuardedOutlet.tsx';
import { Header } from './header/Header.tsx';
import classes from './layouts.module.css';

const PortPurpose = lazyComponent(async () => (await import('./PortPurpose.tsx')).PortPurpose);
const never = () => () => {};

/** One form, nothing beside it; for visitors of a container's port what it is for. */
export function SignLayout() {
  const { search } = useLocation();
  // These pages are drawn at build time, when no address is known: the first drawing must be the same.
  const isDrawnHere = useSyncExternalStore(
    never,
    () => true,
    () => false,
  );
  return (
    <div className={classes.frame}>
      <Header />
      <Notices />
      <main id="content" className={classes.sign} tabIndex={-1}>
        <div className={classes.crumbs}>
          <Breadcrumbs />
        </div>
        {isDrawnHere && search.includes('container-auth') && (
          <Suspense>
            <PortPurpose />
          </Suspense>
        )}
        <GuardedOutlet />
      </main>
      <footer className={classes.choices}>
        <ThemeChoice />
        <LanguageLinks />
      </footer>
    </div>
  );
}
