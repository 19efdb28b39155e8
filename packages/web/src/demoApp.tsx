import { ROUTES } from '@stagi/contract/routes.ts';
import { createRoot } from 'react-dom/client';
import { createBrowserRouter, matchRoutes } from 'react-router';
import { RouterProvider } from 'react-router/dom';
import { App } from './App.tsx';
import { setFailureHandlers, transport } from './api/client.ts';
import { refusalText } from './api/messages.ts';
import { sockets } from './api/stream.ts';
import { prefetchUser } from './api/user.ts';
import { sendFromRecording } from './demo/answers.ts';
import { DemoBar } from './demo/DemoBar.tsx';
import './demo/demo.css';
import { demoRoutes } from './demo/demoRoutes.tsx';
import { demoSocket } from './demo/demoSocket.ts';
import { trackNobody } from './demo/demoVisitor.ts';
import { recordingOf } from './demo/recording.ts';
import { startTranslation } from './i18n/i18n.ts';
import { loadRoute } from './navigation/prefetch.ts';
import { paths } from './paths.ts';
import { routes } from './routes.tsx';
import { toast } from './ui/toasts.ts';

const nothing = () => {};

/** Starts the app over the recording, with the pages of a signed-in person. */
export async function showDemo(): Promise<void> {
  trackNobody();
  transport.send = sendFromRecording({ recordingOf, openedAt: Date.now(), now: Date.now });
  sockets.open = demoSocket;
  await startTranslation();
  const root = document.getElementById('root');
  if (!root) throw new Error('The page has no #root');
  const pages = demoRoutes(routes);
  const profile = prefetchUser();
  for (const { route } of matchRoutes(pages, window.location, ROUTES.demo.path) ?? []) await loadRoute(route);
  await profile;
  document.documentElement.dataset.started = '';
  const router = createBrowserRouter(pages, { basename: ROUTES.demo.path });
  setFailureHandlers({
    signedOut: nothing,
    forbidden: () => void router.navigate(paths.forbidden()),
    notFound: () => void router.navigate(paths.notFound()),
    stepUp: async () => false,
    workspaceGone: nothing,
    // Nothing has failed: the demo only says what it is.
    message: (text, body, retryAfter) => toast.info(refusalText(text, body, retryAfter)),
  });
  createRoot(root).render(
    <App>
      <DemoBar />
      <RouterProvider router={router} />
    </App>,
  );
}
