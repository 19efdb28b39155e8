/** What an element hears of the pointer, the focus and Escape. */
export interface Pointing {
  /** Of the mouse; a finger only presses. */
  entered(): void;
  left(): void;
  pressed(byMouse: boolean): void;
  focused(): void;
  blurred(): void;
  escaped(): void;
}

const watched = new Map<Element, Pointing>();
/** Those under the mouse now. */
let over: readonly Element[] = [];
let listening = false;

/**
 * Tells `pointing` what happens to the element until the answer is called. A list has a hundred elements with words
 * about them, of which one at a time is pointed at: the document listens for all of them.
 */
export function watchPointer(element: Element, pointing: Pointing): () => void {
  if (!listening) listen();
  watched.set(element, pointing);
  return () => {
    watched.delete(element);
    over = over.filter((other) => other !== element);
  };
}

function listen(): void {
  listening = true;
  const on = <Name extends keyof DocumentEventMap>(name: Name, listener: (event: DocumentEventMap[Name]) => void) =>
    // Before anything on the page can stop it.
    document.addEventListener(name, listener, { capture: true, passive: true });

  on('pointerover', ({ pointerType, target }) => pointerType === 'mouse' && moveTo(around(target)));
  on('pointerout', ({ pointerType, relatedTarget }) => pointerType === 'mouse' && !relatedTarget && moveTo([]));
  on('pointerdown', ({ pointerType, target }) => {
    for (const element of around(target)) watched.get(element)?.pressed(pointerType === 'mouse');
  });
  on('focusin', ({ target }) => {
    for (const element of around(target)) watched.get(element)?.focused();
  });
  on('focusout', ({ target }) => {
    for (const element of around(target)) watched.get(element)?.blurred();
  });
  on('keydown', ({ key }) => {
    if (key === 'Escape') for (const pointing of watched.values()) pointing.escaped();
  });
}

function moveTo(elements: readonly Element[]): void {
  const before = over;
  over = elements;
  for (const element of before) if (!elements.includes(element)) watched.get(element)?.left();
  for (const element of elements) if (!before.includes(element)) watched.get(element)?.entered();
}

/** The watched elements that something happens in, innermost first. */
function around(target: EventTarget | null): Element[] {
  const found: Element[] = [];
  for (let element = target instanceof Element ? target : null; element; element = element.parentElement)
    if (watched.has(element)) found.push(element);
  return found;
}
