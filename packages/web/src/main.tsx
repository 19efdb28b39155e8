import { startTransition } from 'react';
import { createRoot, hydrateRoot } from 'react-dom/client';
import { createBrowserRouter, matchRoutes } from 'react-router';
import { RouterProvider } from 'react-router/dom';
import { App } from './App.tsx';
import { clearAnalyticsPerson, tellWaiting, trackFirstVisit } from './api/analytics.ts';
import { setSurroundings } from './api/client.ts';
import { refusalText } from './api/messages.ts';
import { queryClient } from './api/query.ts';
import { onSessionChange, session, watchOtherTabs } from './api/session.ts';
import { leaveGoneWorkspace, userAhead } from './api/user.ts';
import { hasFrame, isDrawnFor } from './drawing/drawn.ts';
import { setAside } from './drawing/early.ts';
import { currentLanguage, startTranslation, t } from './i18n/i18n.ts';
import { haveAtHand, prefetch, watchLinks } from './layouts/prefetch.ts';
import { paths } from './paths.ts';
import { routes } from './routes.tsx';
import { showLeftToast, toast } from './ui/toasts.ts';

await startTranslation();
watchOtherTabs();
tellWaiting();
trackFirstVisit();
// Wherever the session ended, nothing that was read with it may be seen in the next.
onSessionChange(() => {
  if (session.get() !== null) return;
  queryClient.clear();
  clearAnalyticsPerson();
});

const root = document.getElementById('root');
if (!root) throw new Error('index.html has no #root');
setSurroundings({
  signedOut: session.end,
  forbidden: () => void router.navigate(paths.forbidden()),
  notFound: () => void router.navigate(paths.notFound()),
  stepUp: () =>
    import('./features/auth/StepUpDialog.tsx').then(
      ({ askStepUp }) => askStepUp(),
      (cause: unknown) => {
        console.warn('The dialog could not be fetched', cause);
        toast.error(t('This could not be loaded'));
        return false;
      },
    ),
  workspaceGone: () =>
    void leaveGoneWorkspace().catch((cause: unknown) => console.warn('The profile cannot be read', cause)),
  message: (text, body, retryAfter) => toast.error(refusalText(text, body, retryAfter)),
});
const profile = userAhead();

const drawn = isDrawnFor(root, { language: currentLanguage(), signedIn: session.get() !== null });
// What is there stays until the page takes its place: a drawn one is taken over, the frame is painted over.
if (drawn || hasFrame(root)) await haveLazyPage();
else root.replaceChildren();
delete document.documentElement.dataset.other;
// theme.js looks after the page until here.
document.documentElement.dataset.started = '';
sessionStorage.removeItem('bootTries');

const router = createBrowserRouter(routes);
watchLinks(router.routes);

// What the page reads is on its way while its code still is.
void profile.then(() => prefetch(window.location.href));

const app = (
  <App>
    <RouterProvider router={router} />
  </App>
);
setAside(root);
if (drawn) hydrateRoot(root, app, { onRecoverableError: (cause) => console.warn('Drawn anew', cause) });
// Drawn in slices: who presses a key meanwhile is heard.
else startTransition(() => createRoot(root).render(app));
showLeftToast();

/** A router that does not have its page's code at hand draws nothing at first. */
async function haveLazyPage(): Promise<void> {
  for (const { route } of matchRoutes(routes, window.location) ?? []) await haveAtHand(route);
}
