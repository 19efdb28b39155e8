import { z } from 'zod';

const KEY = 'pendingSignUp';
const Pending = z.object({
  email: z.string(),
  /** The registration that the code was mailed for. */
  flow: z.string(),
  /** Milliseconds since 1970. */
  mailedAt: z.number(),
});
type Pending = z.infer<typeof Pending>;

/** Kept for this tab, so that a reload of the confirmation page loses nothing. */
export function rememberSignUp(pending: Pending): void {
  sessionStorage.setItem(KEY, JSON.stringify(pending));
}

/** The sign-up that was begun here for an address; null when it was begun elsewhere. */
export function pendingSignUp(email: string): Pending | null {
  const stored = Pending.safeParse(JSON.parse(sessionStorage.getItem(KEY) ?? 'null'));
  return stored.success && stored.data.email.toLowerCase() === email.toLowerCase() ? stored.data : null;
}

export function forgetSignUp(): void {
  sessionStorage.removeItem(KEY);
}
