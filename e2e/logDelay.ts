import type { Page } from '@playwright/test';

/**
 * Milliseconds from the moment a container printed a line (seconds since the kernel's start as its last word, cut
 * to 10 ms, so that a delay is never measured too short) to the animation frame in which the line stands on the
 * screen. Same machine, same kernel.
 */
export async function measureLogDelay(page: Page, lines: number, bootMs: number): Promise<{ p95: number; n: number }> {
  await page.getByTestId('log-lines').waitFor();
  const delays = await page.getByTestId('log-lines').evaluate(
    (list, { wanted, bootMs }) =>
      new Promise<number[]>((resolve) => {
        const seen = new Set([...list.querySelectorAll('[data-seq]')].map((line) => line.getAttribute('data-seq')));
        const delays: number[] = [];
        // History comes in one piece; only what is printed from now on is measured.
        const since = Date.now();
        const deadline = since + 60_000;
        const look = (): void => {
          const now = performance.timeOrigin + performance.now();
          for (const line of list.querySelectorAll('[data-seq]')) {
            const seq = line.getAttribute('data-seq');
            if (seen.has(seq)) continue;
            seen.add(seq);
            const printed = bootMs + Number((line.textContent ?? '').trim().split(/\s+/).at(-1)) * 1000;
            if (printed > since) delays.push(now - printed);
          }
          if (delays.length >= wanted || now > deadline) resolve(delays);
          else requestAnimationFrame(look);
        };
        requestAnimationFrame(look);
      }),
    { wanted: lines, bootMs },
  );
  const sorted = delays.toSorted((a, b) => a - b);
  return { p95: sorted[Math.ceil(sorted.length * 0.95) - 1] ?? Number.POSITIVE_INFINITY, n: sorted.length };
}
