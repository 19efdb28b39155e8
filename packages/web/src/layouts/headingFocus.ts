import { useEffect, useRef } from 'react';

/** Dialogs that close with a page give the focus back a moment later, to an opener that is no longer the place to be. */
const SETTLE_MS = 500;

/**
 * After a change of page the focus goes to its heading, so that a screen reader says where one is and the next Tab
 * leads into the page. A field that the page focuses by itself, a dialog that it opens, and any key or press keep it.
 */
export function useHeadingFocus(page: string): void {
  const last = useRef(page);
  useEffect(() => {
    if (last.current === page) return;
    last.current = page;
    const main = document.getElementById('content');
    return main ? followHeading(main) : undefined;
  }, [page]);
}

function followHeading(main: HTMLElement): () => void {
  const ended = new AbortController();
  const end = () => ended.abort();
  const on = { signal: ended.signal, capture: true };
  for (const act of ['keydown', 'pointerdown'] as const) window.addEventListener(act, end, on);
  window.addEventListener('focusin', look, on);
  const observer = new MutationObserver(look);
  observer.observe(main, { childList: true, subtree: true });
  let settled: number | undefined;
  ended.signal.addEventListener('abort', () => {
    observer.disconnect();
    window.clearTimeout(settled);
  });
  look();
  return end;

  function look(): void {
    const active = document.activeElement;
    if (active?.closest('[role="dialog"]')) return;
    const heading = main.querySelector('h1');
    if (active !== main && active !== heading && main.contains(active)) {
      end();
      return;
    }
    const target = heading ?? main;
    if (heading && settled === undefined) settled = window.setTimeout(end, SETTLE_MS);
    if (active === target) return;
    target.tabIndex = -1;
    target.focus({ preventScroll: true });
  }
}
