/** A transfer that moves no byte for so long is cut. git itself sends a sign of life every 5 s while it computes. */
export const IDLE_MS = 60_000;

/** Calls `cut` once nothing was touched for so long. */
export function createIdleLimit(cut: () => void, idleMs = IDLE_MS): { touch(): void; stop(): void } {
  const timer = setTimeout(cut, idleMs);
  return { touch: () => void timer.refresh(), stop: () => clearTimeout(timer) };
}
