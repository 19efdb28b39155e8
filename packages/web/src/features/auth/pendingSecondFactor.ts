import type { SecondFactorMethod } from '@stagi/contract/authResponse.ts';
import type { AuthType } from '../../api/session.ts';

const KEY = 'pendingSecondFactor';

export interface PendingSecondFactor {
  /** Proof of the first factor. Worthless without the second; expires after ten minutes. */
  ticket: string;
  methods: SecondFactorMethod[];
  type: AuthType;
}

/** Kept in the session storage, so that it survives a reload. */
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
