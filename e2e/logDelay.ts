import type { Page } from '@playwright/test';

/**
 * Milliseconds from the moment a container printed a line (nanoseconds since 1970 as its last word) to the
 * animation frame in which the line stands on the screen. Same machine, same clock.
 */
export async function measureLogDelay(page: Page, lines: number): Promise<{ p95: number; n: number }> {
  await page.getByTestId('log-lines').waitFor();
  const delays = await page.getByTestId('log-lines').evaluate(
    (list, wanted) =>
      new Promise<number[]>((resolve) => {
        const seen = new Set([...list.querySelectorAll('[data-seq]')].map((line) => line.getAttribute('data-seq')));
        const delays: number[] = [];
        // History comes in one piece; only what is printed from now on is measured.
        const since = Date.now();
        const look = (): void => {
          const now = performance.timeOrigin + performance.now();
          for (const line of list.querySelectorAll('[data-seq]')) {
            const seq = line.getAttribute('data-seq');
            if (seen.has(seq)) continue;
            seen.add(seq);
            const printed = Number((line.textContent ?? '').trim().split(/\s+/).at(-1)?.slice(0, 16)) / 1000;
            if (printed > since) delays.push(now - printed);
          }
          if (delays.length >= wanted) resolve(delays);
          else requestAnimationFrame(look);
        };
        requestAnimationFrame(look);
      }),
    lines,
  );
  const sorted = delays.toSorted((a, b) => a - b);
  return { p95: sorted[Math.ceil(sorted.length * 0.95) - 1] ?? Number.POSITIVE_INFINITY, n: sorted.length };
}
