import { useEffect, useRef } from 'react';

/** Dialogs that close with a page return the focus to their opener a moment later. */
const SETTLE_MS = 500;

/**
 * Focuses the heading after a change of page, so that a screen reader announces the page and the next Tab leads into it.
 * A field that the page focuses, a dialog that it opens, and any key or press take precedence.
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
