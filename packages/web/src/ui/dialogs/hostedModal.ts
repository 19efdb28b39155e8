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
    // One dialog takes the place of another at once, else the page would shine through.
    transitionProps: { duration: alone ? FADE_MS : 0 },
  };
}

const FOCUSABLE = 'a[href], button:not(:disabled), input:not(:disabled), select, textarea, [tabindex="0"]';

/** Into the dialog as soon as it is there: to what asks for it, else to its first control, else to the dialog. */
export function focusFirst(body: HTMLElement | null): void {
  // After the host has noted where the focus comes from.
  queueMicrotask(() => {
    if (!body?.isConnected || body.contains(document.activeElement)) return;
    const asks = body.querySelector<HTMLElement>('[data-autofocus]') ?? body.querySelector<HTMLElement>(FOCUSABLE);
    (chosenBeside(asks) ?? body.closest<HTMLElement>('[role="dialog"]'))?.focus({ preventScroll: true });
  });
}

/** Among choices the one that is made, as Tab would: on another one a press of Space would change it unseen. */
function chosenBeside(control: HTMLElement | null): HTMLElement | null {
  if (!(control instanceof HTMLInputElement) || control.type !== 'radio') return control;
  const group = control.closest('[role="radiogroup"]');
  return group?.querySelector<HTMLElement>('input:checked') ?? control;
}
