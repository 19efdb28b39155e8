export interface TypedAhead {
  text: string;
  /** Whether Enter was pressed behind it. */
  isEntered: boolean;
}

const NOTHING: TypedAhead = { text: '', isEntered: false };

let heard: TypedAhead | null = null;
let giveUp: () => void = () => {};

/** From the wish for the palette until it is there: whoever presses its keys goes on typing. */
export function hearAhead(onEscape: () => void): void {
  if (!heard) window.addEventListener('keydown', hear, { capture: true });
  heard = NOTHING;
  giveUp = onEscape;
}

/** What was typed meanwhile; from now on nothing is heard. */
export function takeTypedAhead(): TypedAhead {
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
