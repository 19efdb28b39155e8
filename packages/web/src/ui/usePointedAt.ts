import { type RefObject, useEffect, useState } from 'react';

interface Options {
  /** Milliseconds that the pointer must stay. */
  openDelay: number;
  keepOnPress: boolean;
}

/**
 * Whether an element is pointed at or has the keyboard's focus, and whether it ever was. A press of the mouse ends it
 * until the pointer comes again; a finger has no other way than to press; Escape ends it.
 */
export function usePointedAt(target: RefObject<HTMLElement | null>, { openDelay, keepOnPress }: Options) {
  const [used, setUsed] = useState(false);
  const [pointedAt, setPointedAt] = useState(false);

  useEffect(() => {
    const element = target.current;
    if (!element) return;
    let timer: number | undefined;
    const show = (delay: number) => {
      setUsed(true);
      window.clearTimeout(timer);
      if (delay === 0) setPointedAt(true);
      else timer = window.setTimeout(() => setPointedAt(true), delay);
    };
    const hide = () => {
      window.clearTimeout(timer);
      setPointedAt(false);
    };
    const ended = new AbortController();
    const on = <Name extends keyof HTMLElementEventMap>(
      name: Name,
      listener: (event: HTMLElementEventMap[Name]) => void,
    ) => element.addEventListener(name, listener, { signal: ended.signal });
    on('pointerenter', ({ pointerType }) => pointerType === 'mouse' && show(openDelay));
    on('pointerleave', ({ pointerType }) => pointerType === 'mouse' && hide());
    on('pointerdown', ({ pointerType }) => {
      if (pointerType !== 'mouse') show(0);
      else if (!keepOnPress) hide();
    });
    on('focusin', () => element.matches(':focus-visible') && show(0));
    on('focusout', hide);
    document.addEventListener('keydown', ({ key }) => key === 'Escape' && hide(), {
      signal: ended.signal,
      capture: true,
    });
    return () => {
      ended.abort();
      window.clearTimeout(timer);
    };
  }, [target, openDelay, keepOnPress]);

  return { used, pointedAt };
}
