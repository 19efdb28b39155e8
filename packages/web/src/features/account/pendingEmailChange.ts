const KEY = 'pendingEmailChange';

export interface PendingEmailChange {
  /** The user, as another one may sign in to this tab. */
  userId: number;
  newEmail: string;
  /** Milliseconds since 1970. */
  mailedAt: number;
}

/** Kept in the session storage, so that the step with the code survives a reload or a visit to the mail. */
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
