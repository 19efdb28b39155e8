/** One result of the check, for the operator. `warning`: it works, and something should be looked at. */
export interface Finding {
  level: 'ok' | 'warning' | 'problem';
  /** The part of the platform, like `Database`. */
  about: string;
  /** A sentence; of what does not work, with the way out. */
  says: string;
}

export const ok = (about: string, says: string): Finding => ({ level: 'ok', about, says });
export const warning = (about: string, says: string): Finding => ({ level: 'warning', about, says });
export const problem = (about: string, says: string): Finding => ({ level: 'problem', about, says });

/** A name with several addresses fails with an error that has a code and no message. */
export function reasonOf(error: unknown): string {
  const { message, code } = error as NodeJS.ErrnoException;
  return message || code || String(error);
}
