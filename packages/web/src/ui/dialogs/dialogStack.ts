import { type RefObject, useContext, useId, useLayoutEffect, useRef, useSyncExternalStore } from 'react';
import { reserveScrollbarSpace } from '../scrollbarSpace.ts';
import { PageVisit } from './pageVisit.ts';

/** Who closed a dialog: the person, or the change of the page beneath. */
export type CloseReason = 'person' | 'route';

export interface Rules {
  /** Escape does not close it. */
  persistent: boolean;
  /** Its own place is in the address: the address opens and closes it, a change of route does not. */
  routed: boolean;
  onClose(by: CloseReason): void;
}

interface Entry {
  id: string;
  opener: Element | null;
  route: string;
  rules: RefObject<Rules>;
}

/** The open dialogs, the one shown last. Those beneath it wait, hidden, with all that was typed in them. */
let stack: readonly Entry[] = [];
const listeners = new Set<() => void>();

/**
 * A dialog's place among the open ones. Everything that concerns more than one dialog happens here: Escape
 * reaches the shown one alone, the page behind is out of reach, and the focus goes back to the opener.
 */
export function useDialogStackEntry(opened: boolean, rules: Rules): { id: string; covered: boolean; alone: boolean } {
  const id = useId();
  const route = useContext(PageVisit);
  const latest = useRef(rules);
  const openedAt = useRef(route);
  useLayoutEffect(() => {
    latest.current = rules;
    openedAt.current = route;
  });
  // A layout effect, so that an Escape right after the press that opened it is heard.
  useLayoutEffect(() => {
    if (!opened) return;
    enter({ id, opener: openerNow(), route: openedAt.current, rules: latest });
    return () => leave(id);
  }, [opened, id]);
  const shown = useSyncExternalStore(subscribe, topmost, topmost);
  const isAlone = () => stack.length === 0 || (stack.length === 1 && shown === id);
  const alone = useSyncExternalStore(subscribe, isAlone, isAlone);
  return { id, alone, covered: opened && shown !== id && stack.some((entry) => entry.id === id) };
}

const topmost = () => stack.at(-1)?.id;

/** Closes what was opened on another route than this one. */
export function closeDialogsExcept(route: string): void {
  for (const entry of [...stack].reverse())
    if (entry.route !== route && !entry.rules.current.routed) entry.rules.current.onClose('route');
}

function enter(entry: Entry): void {
  // Where one dialog takes the place of another, the focus is still in what has just left.
  const came = entry.opener === document.body || hasLeft(entry.opener) ? homes.at(-1) : undefined;
  change([...stack, came === undefined ? entry : { ...entry, opener: came }]);
}

function hasLeft(element: Element | null): boolean {
  const dialog = element?.closest('[data-dialog]');
  return dialog != null && stack.every(({ id }) => id !== dialog.id);
}

function leave(id: string): void {
  const leaving = stack.find((entry) => entry.id === id);
  if (!leaving) return;
  const root = document.getElementById(id);
  change(stack.filter((entry) => entry !== leaving));
  for (const entry of stack) if (entry.opener && root?.contains(entry.opener)) entry.opener = leaving.opener;
  homes.push(leaving.opener);
  // After all that close together have closed, and those beneath are shown again.
  window.clearTimeout(goingHome);
  goingHome = window.setTimeout(giveFocusBack);
}

let homes: (Element | null)[] = [];
let goingHome = 0;

/** To the opener of the dialog that closed, or of the one that it was opened from; never away from what has taken it. */
function giveFocusBack(): void {
  const candidates = homes;
  homes = [];
  const active = document.activeElement;
  if (active && active !== document.body && !isOutOfReach(active)) return;
  const home =
    candidates.find((element) => element?.isConnected && element.checkVisibility() && !isOutOfReach(element)) ??
    document.getElementById(stack.at(-1)?.id ?? '')?.querySelector('[role="dialog"]') ??
    document.querySelector('#content h1, #content');
  if (!(home instanceof HTMLElement)) return;
  if (home.tabIndex < 0 && !home.hasAttribute('tabindex')) home.tabIndex = -1;
  home.focus({ preventScroll: true });
}

function isOutOfReach(element: Element): boolean {
  const dialog = element.closest('[data-dialog]');
  const shown = stack.at(-1)?.id;
  return dialog ? dialog.id !== shown : shown !== undefined && element.closest('[inert]') !== null;
}

/** A menu item is gone when the dialog closes: the focus goes to the button of its menu. */
function openerNow(): Element | null {
  const active = document.activeElement;
  const button = active?.closest('[role="menu"]')?.getAttribute('aria-labelledby');
  return button ? document.getElementById(button) : active;
}

function change(next: readonly Entry[]): void {
  const wasOpen = stack.length > 0;
  stack = next;
  if (stack.length > 0 !== wasOpen) {
    // Nothing behind a dialog can be reached, by Tab or by a screen reader; toasts and lists of choices can.
    document.getElementById('root')?.toggleAttribute('inert', !wasOpen);
    if (wasOpen) window.removeEventListener('keydown', onKeyDown, { capture: true });
    else {
      reserveScrollbarSpace();
      window.addEventListener('keydown', onKeyDown, { capture: true });
    }
  }
  for (const listener of listeners) listener();
}

function onKeyDown(event: KeyboardEvent): void {
  if (event.key !== 'Escape' || event.repeat || event.isComposing) return;
  const top = stack.at(-1);
  if (!top || top.rules.current.persistent || isOfOpenPopup(event.target)) return;
  top.rules.current.onClose('person');
}

/** An open list of choices or menu takes Escape for itself. */
function isOfOpenPopup(target: EventTarget | null): boolean {
  if (!(target instanceof Element)) return false;
  return target.closest('[data-mantine-stop-propagation="true"], [role="menu"], [role="listbox"]') !== null;
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}
