import { useSyncExternalStore } from 'react';
import { startKeystrokeBuffer, takeKeystrokes } from './keystrokeBuffer.ts';

/** A dialog of the shell that opens over any page. */
export type Overlay = 'palette' | 'keys';

export interface OverlayProps {
  opened: boolean;
  onClose(): void;
}

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
  if (next === 'palette' && shown !== 'palette') startKeystrokeBuffer(overlays.close);
  else if (next !== 'palette') takeKeystrokes();
  shown = next;
  for (const listener of listeners) listener();
}
