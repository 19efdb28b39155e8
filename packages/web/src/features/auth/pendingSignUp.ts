const KEY = 'pendingSignUp';

interface Pending {
  email: string;
  /** The registration that the code was mailed for. */
  flow: string;
  /** Milliseconds since 1970. */
  mailedAt: number;
  /** The code of the invitation that it began with. */
  invite?: string;
}

/** Kept in the session storage, so that it survives a reload of the confirmation page. */
export function rememberSignUp(pending: Pending): void {
  sessionStorage.setItem(KEY, JSON.stringify(pending));
}

/** The sign-up that was started in this tab for an email; null when it was started elsewhere. */
export function pendingSignUp(email: string): Pending | null {
  const stored = JSON.parse(sessionStorage.getItem(KEY) ?? 'null') as Partial<Pending> | null;
  const { email: of, flow, mailedAt, invite } = stored ?? {};
  if (typeof of !== 'string' || typeof flow !== 'string' || typeof mailedAt !== 'number') return null;
  return of.toLowerCase() === email.toLowerCase() ? { email: of, flow, mailedAt, invite } : null;
}

export function forgetSignUp(): void {
  sessionStorage.removeItem(KEY);
}
