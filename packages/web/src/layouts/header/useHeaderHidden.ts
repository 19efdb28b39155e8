import { useEffect, useState } from 'react';
import { HEADER_HIDES_AT_PX, SCROLL_DEBOUNCE_MS } from '../../ui/kitConstants.ts';

/** Whether the mobile header is hidden: after scrolling down, not near the top. */
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
