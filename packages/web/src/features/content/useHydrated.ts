import { useSyncExternalStore } from 'react';

const never = () => () => undefined;

/** Whether code runs on the page: what cannot work without it appears with it. */
export const useHydrated = (): boolean =>
  useSyncExternalStore(
    never,
    () => true,
    () => false,
  );
