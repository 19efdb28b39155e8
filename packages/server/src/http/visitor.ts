import type { Language } from '@stagi/contract/languages.ts';
import type { Context } from '../context.ts';

/** The caller of a sign-in call: nobody is signed in yet. */
export interface Visitor extends Context {
  ip: string;
  userAgent: string | null;
  /** From the `Accept-Language` header. */
  language: Language;
  /** The value of the known-browser cookie: somebody has signed in from this browser before. */
  browserToken: string | null;
  /** Sets that cookie on the reply. */
  keepBrowserToken(browserToken: string): void;
  /** For the log of refusals: the account that a call tries to enter, or proves itself to; null: none is known. */
  triesAccount(userId: number | null): void;
  /** Whose own session came with the call; null where there is none, or an app or a token acts. A public call may note it and must not rely on it. */
  sessionUserId: number | null;
}
