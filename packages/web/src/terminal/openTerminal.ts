import { randomId } from '@stagi/contract/randomId.ts';
import type { Shell } from '@stagi/contract/terminals.ts';
import type { ConnectionState } from './connection.ts';
import type { KeptSession } from './keptSessions.ts';

/** A shell in a tab. */
export interface OpenTerminal extends KeptSession {
  isResumed: boolean;
  /** What the shell calls itself, or its name. */
  title: string | null;
  state: ConnectionState;
}

/** One that is not started yet. */
export const fresh = (shell: Shell | null): OpenTerminal => ({
  session: randomId(),
  shell,
  isResumed: false,
  title: null,
  state: { is: 'connecting' },
});
