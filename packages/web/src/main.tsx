import './ui/mantine.ts';
import { localStorageColorSchemeManager, MantineProvider } from '@mantine/core';
import { Notifications } from '@mantine/notifications';
import { QueryClientProvider } from '@tanstack/react-query';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { createBrowserRouter } from 'react-router';
import { RouterProvider } from 'react-router/dom';
import { clearAnalyticsPerson, trackFirstVisit } from './api/analytics.ts';
import { setSurroundings } from './api/client.ts';
import { refusalText } from './api/messages.ts';
import { queryClient } from './api/query.ts';
import { onSessionChange, session, watchOtherTabs } from './api/session.ts';
import { leaveGoneWorkspace } from './api/user.ts';
import { startTranslation } from './i18n/i18n.ts';
import { paths } from './paths.ts';
import { routes } from './routes.tsx';
import { TOAST_LIMIT, TOAST_MS } from './ui/kitConstants.ts';
import { cssVariables, theme } from './ui/theme.ts';
import { toast } from './ui/toasts.ts';

await startTranslation();
watchOtherTabs();
trackFirstVisit();
// Wherever the session ended, nothing that was read with it may be seen in the next.
onSessionChange(() => {
  if (session.get() !== null) return;
  queryClient.clear();
  clearAnalyticsPerson();
});

const router = createBrowserRouter(routes);
setSurroundings({
  signedOut: session.end,
  forbidden: () => void router.navigate(paths.forbidden()),
  notFound: () => void router.navigate(paths.notFound()),
  workspaceGone: () =>
    void leaveGoneWorkspace().catch((cause: unknown) => console.warn('The profile cannot be read', cause)),
  message: (text, body, retryAfter) => toast.error(refusalText(text, body, retryAfter)),
});

const root = document.getElementById('root');
if (!root) throw new Error('index.html has no #root');
createRoot(root).render(
  <StrictMode>
    <MantineProvider
      theme={theme}
      cssVariablesResolver={cssVariables}
      colorSchemeManager={localStorageColorSchemeManager({ key: 'theme' })}
      defaultColorScheme="auto"
    >
      <QueryClientProvider client={queryClient}>
        <Notifications position="bottom-right" autoClose={TOAST_MS} limit={TOAST_LIMIT} />
        <RouterProvider router={router} />
      </QueryClientProvider>
    </MantineProvider>
  </StrictMode>,
);
