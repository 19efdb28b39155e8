const KEY = 'pendingEmailChange';

export interface PendingEmailChange {
  /** Whose change it is: the next person in this tab has nothing to do with it. */
  userId: number;
  newEmail: string;
  /** Milliseconds since 1970. */
  mailedAt: number;
}

/** Kept for this tab, so that somebody who reloads the page, or comes back from their mail, goes on with the code. */
export function rememberEmailChange(pending: PendingEmailChange): void {
  sessionStorage.setItem(KEY, JSON.stringify(pending));
}

export function pendingEmailChange(of: number): PendingEmailChange | null {
  const stored = JSON.parse(sessionStorage.getItem(KEY) ?? 'null') as Partial<PendingEmailChange> | null;
  const { userId, newEmail, mailedAt } = stored ?? {};
  if (userId !== of || typeof newEmail !== 'string' || typeof mailedAt !== 'number') return null;
  return { userId, newEmail, mailedAt };
}

export function forgetEmailChange(): void {
  sessionStorage.removeItem(KEY);
}
