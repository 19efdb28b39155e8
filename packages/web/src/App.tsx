import { lazyPart } from './ui/parts.ts';
import './ui/mantine.ts';
import { localStorageColorSchemeManager, MantineProvider } from '@mantine/core';
import { QueryClientProvider } from '@tanstack/react-query';
import { type ReactNode, StrictMode, Suspense, useSyncExternalStore } from 'react';
import { queryClient } from './api/query.ts';
import { Translating, useTranslating } from './i18n/i18n.ts';
import { cssVariables, theme } from './ui/theme.ts';
import { toasts } from './ui/toasts.ts';

const colorScheme = localStorageColorSchemeManager({ key: 'theme' });

const ToastStack = lazyPart(async () => (await import('./ui/toastStack.tsx')).ToastStack);

/** What surrounds every page, in the browser and where pages are drawn ahead: the very same tree, so that it hydrates. */
export function App({ children }: { children: ReactNode }) {
  return (
    <StrictMode>
      <MantineProvider
        theme={theme}
        cssVariablesResolver={cssVariables}
        colorSchemeManager={colorScheme}
        defaultColorScheme="auto"
      >
        <QueryClientProvider client={queryClient}>
          <Translating value={useTranslating()}>
            {children}
            <Toasts />
          </Translating>
        </QueryClientProvider>
      </MantineProvider>
    </StrictMode>
  );
}

function Toasts() {
  const shown = useSyncExternalStore(toasts.subscribe, toasts.shown, () => false);
  return shown ? (
    <Suspense>
      <ToastStack />
    </Suspense>
  ) : null;
}
