import { type RefObject, useEffect, useLayoutEffect, useRef } from 'react';
import { NEAR_BOTTOM_PX } from '../ui/kitConstants.ts';

/** Scrolling up pauses following, scrolling to the end resumes it. */
export function useFollowByScrolling(
  element: RefObject<HTMLElement | null>,
  setFollowing: (following: boolean) => void,
) {
  const top = useRef(0);

  useEffect(() => {
    const list = element.current;
    if (!list) return;
    const left = () => list.scrollHeight - list.scrollTop - list.clientHeight;
    const scrolled = () => {
      const up = list.scrollTop < top.current - 1;
      const down = list.scrollTop > top.current;
      top.current = list.scrollTop;
      if (up && left() > NEAR_BOTTOM_PX) setFollowing(false);
      else if (down && left() <= NEAR_BOTTOM_PX) setFollowing(true);
    };
    // The wheel event comes before the scroll event; by then new lines would have undone the scrolling.
    const wheeled = ({ deltaY }: WheelEvent) => {
      if (deltaY < 0 && list.scrollTop > 0) setFollowing(false);
    };
    const touched = () => {
      if (list.scrollHeight > list.clientHeight) setFollowing(false);
    };
    const pressed = ({ key }: KeyboardEvent) => {
      if (['PageUp', 'ArrowUp', 'Home'].includes(key) && list.scrollTop > 0) setFollowing(false);
    };
    list.addEventListener('scroll', scrolled, { passive: true });
    list.addEventListener('wheel', wheeled, { passive: true });
    list.addEventListener('touchmove', touched, { passive: true });
    list.addEventListener('keydown', pressed);
    return () => {
      list.removeEventListener('scroll', scrolled);
      list.removeEventListener('wheel', wheeled);
      list.removeEventListener('touchmove', touched);
      list.removeEventListener('keydown', pressed);
    };
  }, [element, setFollowing]);
}

/** Keeps a scrolled element at its end while it grows; `size` is whatever changes when it does. */
export function useStickToEnd(element: RefObject<HTMLElement | null>, following: boolean, size: unknown) {
  // biome-ignore lint/correctness/useExhaustiveDependencies: `size` stands for what has been drawn
  useLayoutEffect(() => {
    const list = element.current;
    if (following && list) list.scrollTop = list.scrollHeight;
  }, [element, following, size]);
}
