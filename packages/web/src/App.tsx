import './ui/mantine.ts';
import { localStorageColorSchemeManager, MantineProvider } from '@mantine/core';
import { Notifications } from '@mantine/notifications';
import { QueryClientProvider } from '@tanstack/react-query';
import { type ReactNode, StrictMode } from 'react';
import { queryClient } from './api/query.ts';
import { TOAST_LIMIT, TOAST_MS } from './ui/kitConstants.ts';
import { cssVariables, theme } from './ui/theme.ts';

const colorScheme = localStorageColorSchemeManager({ key: 'theme' });

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
          <Notifications position="bottom-right" autoClose={TOAST_MS} limit={TOAST_LIMIT} />
          {children}
        </QueryClientProvider>
      </MantineProvider>
    </StrictMode>
  );
}
