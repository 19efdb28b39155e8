import { type RefObject, useEffect, useState } from 'react';
import { watchPointer } from './pointerEvents.ts';

interface Options {
  /** Milliseconds that the pointer must stay. */
  openDelay: number;
  keepOnPress: boolean;
}

/**
 * Whether an element is pointed at or has the keyboard's focus, and whether it ever was. A press of the mouse ends it
 * until the pointer comes again; a finger has no other way than to press; Escape ends it.
 */
export function useHoverOrFocus(target: RefObject<HTMLElement | null>, { openDelay, keepOnPress }: Options) {
  const [state, setState] = useState<'never' | 'here' | 'away'>('never');

  useEffect(() => {
    const element = target.current;
    if (!element) return;
    let timer: number | undefined;
    const show = (delay: number) => {
      window.clearTimeout(timer);
      setState((before) => (delay === 0 ? 'here' : before === 'never' ? 'away' : before));
      if (delay > 0) timer = window.setTimeout(() => setState('here'), delay);
    };
    const hide = () => {
      window.clearTimeout(timer);
      setState((before) => (before === 'here' ? 'away' : before));
    };
    const unwatch = watchPointer(element, {
      entered: () => show(openDelay),
      left: hide,
      pressed: (byMouse) => {
        if (!byMouse) show(0);
        else if (!keepOnPress) hide();
      },
      focused: () => element.matches(':focus-visible') && show(0),
      blurred: hide,
      escaped: hide,
    });
    return () => {
      unwatch();
      window.clearTimeout(timer);
    };
  }, [target, openDelay, keepOnPress]);

  return { used: state !== 'never', pointedAt: state === 'here' };
}
