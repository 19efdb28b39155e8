export interface Keystrokes {
  text: string;
  /** Whether Enter was pressed after the text. */
  isEntered: boolean;
}

const NOTHING: Keystrokes = { text: '', isEntered: false };

let heard: Keystrokes | null = null;
let giveUp: () => void = () => {};

/** Buffers keystrokes until the palette is loaded, so that people can type right after its shortcut. */
export function startKeystrokeBuffer(onEscape: () => void): void {
  if (!heard) window.addEventListener('keydown', hear, { capture: true });
  heard = NOTHING;
  giveUp = onEscape;
}

/** Returns the buffered keystrokes and stops listening. */
export function takeKeystrokes(): Keystrokes {
  const taken = heard ?? NOTHING;
  heard = null;
  window.removeEventListener('keydown', hear, { capture: true });
  return taken;
}

function hear(event: KeyboardEvent): void {
  if (!heard || event.ctrlKey || event.metaKey || event.altKey) return;
  const { text, isEntered } = heard;
  if (event.key === 'Escape') giveUp();
  else if (isEntered) heard = { text, isEntered };
  else if (event.key === 'Enter') heard = { text, isEntered: true };
  else if (event.key === 'Backspace') heard = { text: text.slice(0, -1), isEntered };
  else if (event.key.length === 1) heard = { text: text + event.key, isEntered };
  else return;
  event.preventDefault();
  event.stopImmediatePropagation();
}
