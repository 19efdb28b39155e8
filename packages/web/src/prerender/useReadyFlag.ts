import { useEffect } from 'react';

/**
 * Sets `data-ready` on the document once React listens to the page. Until then `public/boot.js` prevents submits, and
 * `ui/global.css` keeps the pointer from the buttons of a prerendered page.
 */
export function useReadyFlag(): void {
  useEffect(() => {
    document.documentElement.dataset.ready = '';
  }, []);
}
