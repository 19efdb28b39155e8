import type { Duplex } from 'node:stream';
import type { TerminalSize } from '@stagi/contract/terminals.ts';

/** A running shell with its terminal. */
export interface ShellProcess {
  shell: string;
  /** Input and output. The output ends when the shell has ended. */
  terminal: Duplex;
  resize(size: TerminalSize): Promise<void>;
  /** After the end of the output; null: it is not known. */
  exitCode(): Promise<number | null>;
  /** Ends it and what runs in its terminal. Idempotent. */
  kill(): Promise<void>;
}
