import { lazyComponent } from './lazyChunks.ts';
import './ui/mantine.ts';
import { localStorageColorSchemeManager, MantineProvider } from '@mantine/core';
import { QueryClientProvider } from '@tanstack/react-query';
import { type ReactNode, StrictMode, Suspense, useSyncExternalStore } from 'react';
import { queryClient } from './api/query.ts';
import { TranslationContext, useTranslator } from './i18n/i18n.ts';
import { cssVariables, theme } from './ui/theme.ts';
import { toasts } from './ui/toasts.ts';

const colorScheme = localStorageColorSchemeManager({ key: 'theme' });

const ToastStack = lazyComponent(async () => (await import('./ui/toastStack.tsx')).ToastStack);

/** The providers around every page. The browser and the prerenderer render the same tree, as hydration requires. */
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
          <TranslationContext value={useTranslator()}>
            {children}
            <Toasts />
          </TranslationContext>
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
