import { useSyncExternalStore } from 'react';
import { useSearchParams } from 'react-router';

export const VIEWS = ['cards', 'table'] as const;
export type View = (typeof VIEWS)[number];

const STORED = 'modelsView';
const viewIn = (text: string | null): View | undefined => VIEWS.find((view) => view === text);

/** How models are shown: as the address says, else as the person last chose in this browser. */
export function useView() {
  const [params] = useSearchParams();
  const stored = useSyncExternalStore(
    subscribe,
    () => localStorage.getItem(STORED),
    () => null,
  );
  return {
    view: viewIn(params.get('view')) ?? viewIn(stored) ?? 'cards',
    /** The address of the same list in another view. */
    to(view: View): string {
      const next = new URLSearchParams(params);
      next.set('view', view);
      return `?${next}`;
    },
    remember: (view: View) => localStorage.setItem(STORED, view),
  };
}

function subscribe(listener: () => void): () => void {
  window.addEventListener('storage', listener);
  return () => window.removeEventListener('storage', listener);
}
