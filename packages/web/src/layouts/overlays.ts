import { useSyncExternalStore } from 'react';
import { hearAhead, takeTypedAhead } from './palette/typedAhead.ts';

/** What the shell lays over any page. */
export type Overlay = 'palette' | 'keys';

let shown: Overlay | null = null;
const listeners = new Set<() => void>();

/** One at a time; each is a dialog of the host. */
export const overlays = {
  open: (which: Overlay) => show(which),
  toggle: (which: Overlay) => show(shown === which ? null : which),
  close: () => show(null),
};

export function useOverlay(): Overlay | null {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => shown,
    () => null,
  );
}

function show(next: Overlay | null): void {
  if (next === 'palette' && shown !== 'palette') hearAhead(overlays.close);
  else if (next !== 'palette') takeTypedAhead();
  shown = next;
  for (const listener of listeners) listener();
}
