import { type Rules, useDialogStackEntry } from './dialogStack.ts';

const FADE_MS = 100;

/** What a modal of the library needs to be one of the host's dialogs; `focusFirst` is the ref of what it holds. */
export function useHostedModal(opened: boolean, rules: Rules) {
  const { id, covered, alone } = useDialogStackEntry(opened, rules);
  return {
    id,
    opened,
    onClose: () => rules.onClose('person'),
    // All of these are the host's business: it sees the other dialogs too.
    closeOnEscape: false,
    trapFocus: false,
    returnFocus: false,
    'data-dialog': true,
    style: covered ? { display: 'none' } : undefined,
    // No transition between two dialogs: the page would shine through.
    transitionProps: { duration: alone ? FADE_MS : 0 },
  };
}

const FOCUSABLE = 'a[href], button:not(:disabled), input:not(:disabled), select, textarea, [tabindex="0"]';

/** Moves the focus into the dialog: to `data-autofocus`, else to the first control, else to the dialog. */
export function focusFirst(body: HTMLElement | null): void {
  // After the host has noted where the focus comes from.
  queueMicrotask(() => {
    if (!body?.isConnected || body.contains(document.activeElement)) return;
    const asks = body.querySelector<HTMLElement>('[data-autofocus]') ?? body.querySelector<HTMLElement>(FOCUSABLE);
    (chosenBeside(asks) ?? body.closest<HTMLElement>('[role="dialog"]'))?.focus({ preventScroll: true });
  });
}

/** In a radio group the checked one, as with Tab: on another one Space would change the choice unnoticed. */
function chosenBeside(control: HTMLElement | null): HTMLElement | null {
  if (!(control instanceof HTMLInputElement) || control.type !== 'radio') return control;
  const group = control.closest('[role="radiogroup"]');
  return group?.querySelector<HTMLElement>('input:checked') ?? control;
}
