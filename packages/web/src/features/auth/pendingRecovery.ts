const KEY = 'pendingRecovery';

export interface PendingRecovery {
  email: string;
  /** The recovery that the code was mailed for. */
  flow: string;
  /** Milliseconds since 1970. */
  mailedAt: number;
}

/** Kept in the session storage, so that the step with the code survives a reload or a visit to the mail. */
export function rememberRecovery(pending: PendingRecovery): void {
  sessionStorage.setItem(KEY, JSON.stringify(pending));
}

export function pendingRecovery(): PendingRecovery | null {
  const stored = JSON.parse(sessionStorage.getItem(KEY) ?? 'null') as Partial<PendingRecovery> | null;
  const { email, flow, mailedAt } = stored ?? {};
  if (typeof email !== 'string' || typeof flow !== 'string' || typeof mailedAt !== 'number') return null;
  return { email, flow, mailedAt };
}

export function forgetRecovery(): void {
  sessionStorage.removeItem(KEY);
}
