import { loadChunk } from '../lazyChunks.ts';
import type { ToastKind } from './toastStack.tsx';

/** Short words at the bottom right. The same text shown twice at once stays one toast. */
export const toast = {
  /** `title`: what failed, above the cause. */
  error: (message: string, title?: string) => show(message, 'error', title),
  success: (message: string) => show(message, 'success'),
  info: (message: string) => show(message, 'info'),
  /** Stays until it is closed: for what the user must not miss. */
  notice: (message: string) => show(message, 'notice'),
};

let shown = false;
const listeners = new Set<() => void>();

/** Whether there was a toast yet: what shows them is fetched with the first. */
export const toasts = {
  shown: () => shown,
  subscribe(listener: () => void): () => void {
    listeners.add(listener);
    return () => listeners.delete(listener);
  },
};

function show(message: string, kind: ToastKind, title?: string): void {
  shown = true;
  for (const listener of listeners) listener();
  loadChunk(() => import('./toastStack.tsx')).then(
    ({ showToast }) => showToast(message, kind, title),
    (cause: unknown) => console.error(`Could not be shown: ${message}`, cause),
  );
}

const LEFT = 'leftToast';

/** Set on a page that is being left. It may still be starting, and must not show the toast that is for the next page. */
let keepsToast = false;

/** For who leaves the page at once: the next one of this tab shows it. */
export function keepToastForNextPage(message: string, kind: 'success' | 'notice' = 'success'): void {
  keepsToast = true;
  sessionStorage.setItem(LEFT, JSON.stringify([kind, message]));
}

export function showKeptToast(): void {
  const left = sessionStorage.getItem(LEFT);
  if (left === null || keepsToast) return;
  sessionStorage.removeItem(LEFT);
  const [kind, message] = JSON.parse(left) as ['success' | 'notice', string];
  toast[kind](message);
}
