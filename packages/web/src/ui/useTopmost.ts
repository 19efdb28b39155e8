import { useEffect, useId, useSyncExternalStore } from 'react';

let open: readonly string[] = [];
const listeners = new Set<() => void>();

/**
 * Whether this is the dialog that Escape means: the one opened last. Mantine lets every open dialog hear
 * it, so all but this one take `closeOnEscape={false}`.
 */
export function useTopmost(opened: boolean): boolean {
  const id = useId();
  useEffect(() => {
    if (!opened) return;
    // Only after the press that opened or closed it: the same one must not reach the next dialog.
    let timer = window.setTimeout(() => change([...open, id]));
    return () => {
      window.clearTimeout(timer);
      timer = window.setTimeout(() => change(open.filter((other) => other !== id)));
    };
  }, [opened, id]);
  return useSyncExternalStore(subscribe, () => open.at(-1) === id);
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

function change(next: readonly string[]): void {
  open = next;
  for (const listener of listeners) listener();
}
