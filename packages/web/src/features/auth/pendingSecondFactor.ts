import type { SecondFactorMethod } from '@stagi/contract/authResponse.ts';
import type { AuthType } from '../../api/session.ts';

const KEY = 'pendingSecondFactor';

export interface PendingSecondFactor {
  /** Proof of the first factor; of no use without the second, and for ten minutes only. */
  ticket: string;
  methods: SecondFactorMethod[];
  type: AuthType;
}

/** Kept for this tab, so that a reload of the page loses nothing. */
export function rememberSecondFactor(pending: PendingSecondFactor): void {
  sessionStorage.setItem(KEY, JSON.stringify(pending));
}

export function pendingSecondFactor(): PendingSecondFactor | null {
  const stored = JSON.parse(sessionStorage.getItem(KEY) ?? 'null') as Partial<PendingSecondFactor> | null;
  const { ticket, methods, type } = stored ?? {};
  if (typeof ticket !== 'string' || !Array.isArray(methods) || type === undefined) return null;
  return { ticket, methods, type };
}

export function forgetSecondFactor(): void {
  sessionStorage.removeItem(KEY);
}
