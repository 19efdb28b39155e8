import { Suspense } from 'react';
import { Outlet, ScrollRestoration, useMatches, useNavigation } from 'react-router';
import { useUserState } from '../api/user.ts';
import { useEarly } from '../drawing/early.ts';
import { useT } from '../i18n/i18n.ts';
import { DialogHost } from '../ui/dialogs/DialogHost.tsx';
import { lazyPart } from '../ui/parts.ts';
import { Connection } from './Connection.tsx';
import { DocumentTitle } from './crumb.tsx';
import { useHeadingFocus } from './headingFocus.ts';
import { useKeyboard } from './keyboard/useKeyboard.ts';
import { Overlays } from './Overlays.tsx';
import { useSavedPreferences } from './preferences.ts';
import classes from './Root.module.css';
import { useRoute } from './useRoute.ts';
import { useRouteMark } from './useRouteMark.ts';

/** What every page has: keys, palette, the event stream of a signed-in person, the title, a thin bar while the next page comes. */
export function Root() {
  const t = useT();
  const state = useUserState();
  const navigation = useNavigation();
  useSavedPreferences(state);
  useKeyboard();
  useHeadingFocus(usePage());
  return (
    <DialogHost route={useRouteMark()}>
      {/* biome-ignore lint/a11y/useValidAnchor: it leads to a place; by itself it would leave a hash that goes along to every page */}
      <a className={classes.skip} href="#content" onClick={skip}>
        {t('Skip to the content')}
      </a>
      {navigation.state === 'loading' && <div className={classes.bar} aria-hidden="true" />}
      {state.is === 'here' && state.user.workspace && (
        <Suspense>
          <Events key={state.user.workspace.clientId} />
        </Suspense>
      )}
      <DocumentTitle />
      <Suspense>
        <Outlet />
        <Early />
      </Suspense>
      <Overlays />
      <Connection />
      <ScrollRestoration />
    </DialogHost>
  );
}

/** What makes a page another one: its route and the thing it is about, not its tab, query or hash. */
function usePage(): string {
  const { path } = useRoute();
  const { tab: _, ...about } = useMatches().at(-1)?.params ?? {};
  return JSON.stringify([path, about]);
}

function skip(event: React.MouseEvent): void {
  event.preventDefault();
  const main = document.getElementById('content');
  main?.focus({ preventScroll: true });
  main?.scrollIntoView();
}

/** Beside the page, so that it is alive when this is. */
function Early() {
  useEarly();
  return null;
}

const Events = lazyPart(async () => (await import('./Events.tsx')).Events);
