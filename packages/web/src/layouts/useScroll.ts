import { useEffect, useState } from 'react';
import { HEADER_HIDES_AT_PX, NEAR_BOTTOM_PX, SCROLL_DEBOUNCE_MS } from '../ui/kitConstants.ts';

/** Whether the page is scrolled so far that the mobile header goes; it is back at once near the top. */
export function useHeaderHidden(): boolean {
  const [hidden, setHidden] = useState(false);
  useEffect(() => {
    let timer: number | undefined;
    const look = () => {
      window.clearTimeout(timer);
      const far = window.scrollY >= HEADER_HIDES_AT_PX;
      if (far) timer = window.setTimeout(() => setHidden(true), SCROLL_DEBOUNCE_MS);
      else setHidden(false);
    };
    window.addEventListener('scroll', look, { passive: true });
    return () => {
      window.clearTimeout(timer);
      window.removeEventListener('scroll', look);
    };
  }, []);
  return hidden;
}

/** Whether the end of the page is in sight: what floats over it must give the footer room. */
export function useNearBottom(): boolean {
  const [near, setNear] = useState(false);
  useEffect(() => {
    let timer: number | undefined;
    const look = () => {
      window.clearTimeout(timer);
      timer = window.setTimeout(() => setNear(isNearBottom(document.documentElement)), SCROLL_DEBOUNCE_MS);
    };
    window.addEventListener('scroll', look, { passive: true });
    return () => {
      window.clearTimeout(timer);
      window.removeEventListener('scroll', look);
    };
  }, []);
  return near;
}

/** A page that does not scroll has no bottom to be near to. */
export function isNearBottom(page: Pick<Element, 'scrollTop' | 'clientHeight' | 'scrollHeight'>): boolean {
  const below = page.scrollHeight - page.clientHeight - page.scrollTop;
  return page.scrollHeight > page.clientHeight && below <= NEAR_BOTTOM_PX;
}
