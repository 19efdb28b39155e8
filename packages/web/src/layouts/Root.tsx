import { Suspense } from 'react';
import { Outlet, ScrollRestoration, useNavigation } from 'react-router';
import { useEvents } from '../api/events.ts';
import { useUserState } from '../api/user.ts';
import { useT } from '../i18n/i18n.ts';
import { DocumentTitle } from './crumb.tsx';
import { useSavedPreferences } from './preferences.ts';
import classes from './Root.module.css';

/** What every page has: the event stream of a signed-in person, the title, a thin bar while the next page comes. */
export function Root() {
  const t = useT();
  const state = useUserState();
  const navigation = useNavigation();
  useSavedPreferences(state);
  return (
    <>
      <a className={classes.skip} href="#content">
        {t('Skip to the content')}
      </a>
      {navigation.state === 'loading' && <div className={classes.bar} aria-hidden="true" />}
      {state.is === 'here' && state.user.workspace && <Events key={state.user.workspace.clientId} />}
      <DocumentTitle />
      <Suspense>
        <Outlet />
      </Suspense>
      <ScrollRestoration />
    </>
  );
}

function Events() {
  useEvents();
  return null;
}
