import type { Language } from '@stagi/contract/languages.ts';
import type { Context } from '../context.ts';

/** Who makes a call of the ways in, as far as the request tells. */
export interface Visitor extends Context {
  ip: string;
  userAgent: string | null;
  /** What the browser asks for. */
  language: Language;
  /** The cookie of a browser that somebody has signed in from. */
  device: string | null;
  /** Sends that cookie along with the answer. */
  keepDevice(device: string): void;
}
