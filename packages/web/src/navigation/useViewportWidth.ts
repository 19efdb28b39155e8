import { useLayoutEffect } from 'react';

/**
 * While a page asks for a width that the screen does not have, a phone lays the page out at that width and zooms out;
 * the person may zoom in.
 */
export function useViewportWidth(width: number | undefined): void {
  useLayoutEffect(() => {
    const meta = document.querySelector<HTMLMetaElement>('meta[name="viewport"]');
    if (!meta || width === undefined || window.screen.width >= width) return;
    const { content } = meta;
    meta.content = `width=${width}`;
    return () => {
      meta.content = content;
    };
  }, [width]);
}
