import { useEffect } from 'react';

/** What was done to a drawn page before its code arrived; `public/theme.js` notes it. */
interface Early {
  submitted: HTMLFormElement | null;
  pressed: HTMLElement | null;
}

declare global {
  interface Window {
    early?: Early;
  }
}

type Field = HTMLInputElement | HTMLTextAreaElement;

interface Typed {
  field: Field;
  value: string;
  caret: number | null;
}

let typed: Typed[] = [];

/**
 * A drawn page can be typed into before the code that listens is there. Notes what was typed, before the code takes
 * the page over; `useEarly` then enters it again.
 */
export function setAside(root: HTMLElement): void {
  typed = [...root.querySelectorAll<Field>('input, textarea')]
    .filter((field) => !['checkbox', 'radio', 'hidden', 'file'].includes(field.type))
    .filter((field) => field.value !== field.defaultValue)
    .map((field) => ({ field, value: field.value, caret: field.selectionStart }));
}

/** Once the page is alive: types in what was typed early, then sends the form or presses the button as was done. */
export function useEarly(): void {
  useEffect(() => {
    const root = document.documentElement;
    if (root.dataset.ready !== undefined) return;
    root.dataset.ready = '';
    const { submitted, pressed } = window.early ?? {};
    // Each step after React is done with the one before: typing changes what is sent.
    setTimeout(() => {
      for (const entry of typed.splice(0)) enter(entry);
      setTimeout(() => {
        if (submitted?.isConnected) submitted.requestSubmit();
        else if (pressed?.isConnected) pressed.click();
      });
    });
  }, []);
}

/** React hears of a value only where it changes: it is taken out first, by the field's own setter, past React's. */
function enter({ field, value, caret }: Typed): void {
  if (!field.isConnected) return;
  const native = field instanceof HTMLTextAreaElement ? HTMLTextAreaElement.prototype : HTMLInputElement.prototype;
  const set = Object.getOwnPropertyDescriptor(native, 'value')?.set;
  const since = field.value.startsWith(value) ? field.value : value;
  field.value = '';
  set?.call(field, since);
  field.dispatchEvent(new Event('input', { bubbles: true }));
  if (caret !== null && field === document.activeElement) field.setSelectionRange(since.length, since.length);
}
