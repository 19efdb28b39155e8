import { type FocusEvent, type PointerEvent, useEffect, useRef, useState } from 'react';

/** Whether somebody points at rows, by mouse or by keyboard; `hold` goes to the element that holds them, while it is `there`. */
export function usePointedRows<Holder extends HTMLElement>(there: boolean) {
  const holder = useRef<Holder>(null);
  // Two states: both may change in one moment, before either is drawn.
  const [pointer, setPointer] = useState(false);
  const [keyboard, setKeyboard] = useState(false);
  // A removed element gets no leave events.
  if (!there && pointer) setPointer(false);
  if (!there && keyboard) setKeyboard(false);

  const isAtRows = (element: Element | null) =>
    holder.current?.contains(element) === true || element?.closest('[role="menu"]') != null;

  // A focused row or row menu may be removed without a blur event. Then the focus is elsewhere or nowhere.
  useEffect(() => {
    if (!keyboard) return;
    const look = () => {
      if (!isAtRows(document.activeElement)) setKeyboard(false);
    };
    look();
    document.addEventListener('focusin', look);
    return () => document.removeEventListener('focusin', look);
  });

  return {
    held: pointer || keyboard,
    hold: {
      ref: holder,
      onPointerEnter: ({ pointerType }: PointerEvent) => pointerType === 'mouse' && setPointer(true),
      onPointerLeave: () => setPointer(false),
      onFocus: ({ target }: FocusEvent) => setKeyboard(target.matches(':focus-visible')),
      onBlur: ({ relatedTarget }: FocusEvent) => !isAtRows(relatedTarget) && setKeyboard(false),
    },
  };
}
