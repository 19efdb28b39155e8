import { Suspense } from 'react';
import { Outlet, ScrollRestoration, useMatches, useNavigation } from 'react-router';
import { useUserState } from '../api/user.ts';
import { useT } from '../i18n/i18n.ts';
import { useShortcuts } from '../keyboard/useShortcuts.ts';
import { lazyComponent } from '../lazyChunks.ts';
import { DocumentTitle } from '../navigation/pageTitle.tsx';
import { useRoute } from '../navigation/useRoute.ts';
import { useViewportWidth } from '../navigation/useViewportWidth.ts';
import { useVisitKey } from '../navigation/useVisitKey.ts';
import { ConnectionNotices } from '../notices/ConnectionNotices.tsx';
import { useSavedPreferences } from '../preferences/preferences.ts';
import { useReadyFlag } from '../prerender/useReadyFlag.ts';
import { DialogHost } from '../ui/dialogs/DialogHost.tsx';
import { Overlays } from './Overlays.tsx';
import classes from './Root.module.css';
import { useHeadingFocus } from './useHeadingFocus.ts';

/** What every page has: shortcuts, palette, event stream, title, and a thin bar while the next page loads. */
export function Root() {
  const t = useT();
  const state = useUserState();
  const navigation = useNavigation();
  useSavedPreferences(state);
  useShortcuts();
  useViewportWidth(useRoute().viewportWidth);
  useHeadingFocus(usePage());
  return (
    <DialogHost route={useVisitKey()}>
      {/* biome-ignore lint/a11y/useValidAnchor: it leads to a place; by itself it would leave a hash that goes along to every page */}
      <a className={classes.skip} href="#content" onClick={skip}>
        {t('Skip to the content')}
      </a>
      {navigation.state === 'loading' && <div className={classes.bar} aria-hidden="true" />}
      {state.is === 'signed-in' && state.user.workspace && (
        <Suspense>
          <WorkspaceEvents key={state.user.workspace.clientId} />
        </Suspense>
      )}
      <DocumentTitle />
      <Suspense>
        <Outlet />
        <ReadyFlag />
      </Suspense>
      <Overlays />
      <ConnectionNotices />
      <ScrollRestoration />
    </DialogHost>
  );
}

/** Identifies a page by its route and entity, not by its tab, query or hash. */
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

/** In the same Suspense boundary as the page: React hydrates both at once. */
function ReadyFlag() {
  useReadyFlag();
  return null;
}

const WorkspaceEvents = lazyComponent(async () => (await import('./WorkspaceEvents.tsx')).WorkspaceEvents);
