import { Fragment, type ReactNode, useLayoutEffect, useSyncExternalStore } from 'react';
import { POPUP_DISPOSE_MS } from '../kitConstants.ts';
import { type CloseReason, closeDialogsExcept } from './dialogStack.ts';
import { PageVisit } from './pageVisit.ts';

/**
 * Holds every dialog of the app. `route` names the present visit of a page: when it changes, the dialogs
 * that were opened before close.
 */
export function DialogHost({ route, children }: { route: string; children: ReactNode }) {
  // Runs after the effects of the pages inside, so that dialogs that the new route opened belong to it.
  useLayoutEffect(() => closeDialogsExcept(route), [route]);
  return (
    <PageVisit value={route}>
      {children}
      <Asked />
    </PageVisit>
  );
}

export interface ShownDialog {
  opened: boolean;
  onClose(by?: CloseReason): void;
}

/**
 * Shows a dialog that outlives whoever asked for it, such as the result of a form that has closed.
 * `draw` is given what `Dialog` and its kin take. Answers how to close it.
 */
export function showDialog(draw: (dialog: ShownDialog) => ReactNode): () => void {
  const id = nextId;
  nextId += 1;
  change([...asked, { id, opened: true, draw }]);
  return () => close(id);
}

interface AskedEntry {
  id: number;
  opened: boolean;
  draw(dialog: ShownDialog): ReactNode;
}

let asked: readonly AskedEntry[] = [];
let nextId = 1;
const listeners = new Set<() => void>();

function Asked() {
  const entries = useSyncExternalStore(
    subscribe,
    () => asked,
    () => asked,
  );
  return entries.map(({ id, opened, draw }) => (
    <Fragment key={id}>{draw({ opened, onClose: () => close(id) })}</Fragment>
  ));
}

function close(id: number): void {
  change(asked.map((entry) => (entry.id === id ? { ...entry, opened: false } : entry)));
  // It stays rendered while it fades out.
  window.setTimeout(() => change(asked.filter((entry) => entry.id !== id)), POPUP_DISPOSE_MS);
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

function change(next: readonly AskedEntry[]): void {
  asked = next;
  for (const listener of listeners) listener();
}
