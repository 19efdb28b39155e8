import { useSyncExternalStore } from 'react';

/** What the shell lays over any page. */
export type Overlay = 'palette' | 'keys';

let shown: Overlay | null = null;
let opener: Element | null = null;
const listeners = new Set<() => void>();

/** One at a time. The focus goes back to where it was before the first of them, also when one leads to the other. */
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
  if (next === shown) return;
  if (shown === null) opener = document.activeElement;
  shown = next;
  for (const listener of listeners) listener();
  if (next === null && opener instanceof HTMLElement) opener.focus({ preventScroll: true });
}
