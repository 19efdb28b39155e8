export interface HostingLimits {
  /** A transfer that moves no byte for so long is cut. git itself sends a sign of life every 5 s while it computes. */
  idleMs: number;
  /** A client must be authenticated within this time, and with one of so many keys; then its command must come. */
  loginMs: number;
  maxTries: number;
}

export const HOSTING_LIMITS: HostingLimits = {
  idleMs: 60_000,
  loginMs: 30_000,
  maxTries: 20,
};

/** Calls `cut` once nothing was touched for so long. */
export function createIdleLimit(cut: () => void, idleMs: number): { touch(): void; stop(): void } {
  const timer = setTimeout(cut, idleMs);
  return { touch: () => void timer.refresh(), stop: () => clearTimeout(timer) };
}
