import { z } from 'zod';
import { text } from './text.ts';

/**
 * Terminals: a shell of a container or of a server, in the browser. A session is a process with its PTY and its last
 * output. The daemon keeps it for a while without a viewer, so that a lost network and a restart of the platform are
 * survived.
 */

/** The feature of a daemon that opens terminals in containers. */
export const TERMINAL_FEATURE = 'terminal';
/** The feature of a daemon whose local policy allows terminals on the server itself. */
export const HOST_TERMINAL_FEATURE = 'host-terminal';

/** How long a session is kept without a viewer. */
export const TERMINAL_KEPT_SECONDS = 120;
/** What is kept of its output for whoever comes back. */
export const TERMINAL_KEPT_BYTES = 1024 * 1024;

/** Sessions at a time, which the daemon counts. */
export const TERMINALS_MAX = { ofContainer: 10, ofUser: 20, ofServer: 50 } as const;

/** The shells that can be asked for. Without a choice the first of them that exists is taken. */
export const SHELLS = ['bash', 'sh', 'zsh', 'ash', 'fish'] as const;
export const Shell = z.enum(SHELLS);
export type Shell = z.infer<typeof Shell>;

export const TerminalSize = z.object({
  cols: z.number().int().min(2).max(500),
  rows: z.number().int().min(2).max(300),
});
export type TerminalSize = z.infer<typeof TerminalSize>;

/** What the daemon tells of a session, beside its output. */
export const TerminalEvent = z.discriminatedUnion('type', [
  z.object({ type: z.literal('opened'), shell: z.string() }),
  /** Output follows from `offset`. `dropped` bytes before it, which the viewer has not seen, are not kept any more. */
  z.object({
    type: z.literal('resumed'),
    shell: z.string(),
    offset: z.number().int(),
    dropped: z.number().int(),
    /** Output up to here was shown before. What it asks of a terminal (its kind, the cursor) has its answer. */
    answered: z.number().int().default(0),
  }),
  /** The session has ended, after its last output. `reason`: why, where it did not end by itself. */
  z.object({ type: z.literal('exit'), code: z.number().int().nullable(), reason: z.string().nullable() }),
]);
export type TerminalEvent = z.infer<typeof TerminalEvent>;

/** The platform to the browser, as text. Binary messages are output. */
export const TerminalMessage = z.discriminatedUnion('type', [
  ...TerminalEvent.options,
  /** It cannot be opened. `retry`: it may be possible later; the browser tries again. */
  z.object({ type: z.literal('refused'), message: z.string(), retry: z.boolean() }),
  /** The way to the server was lost: the browser reconnects. */
  z.object({ type: z.literal('lost') }),
  z.object({ type: z.literal('ping') }),
]);
export type TerminalMessage = z.infer<typeof TerminalMessage>;

/** The browser to the platform, as text. Binary messages are input. */
export const TerminalControl = z.discriminatedUnion('type', [
  z.object({ type: z.literal('resize'), ...TerminalSize.shape }),
  /** Output up to this offset is shown. The platform sends `TERMINAL_WINDOW_BYTES` ahead at most. */
  z.object({ type: z.literal('shown'), offset: z.number().int().min(0) }),
  z.object({ type: z.literal('close') }),
]);
export type TerminalControl = z.infer<typeof TerminalControl>;

/** What the platform sends before the browser has shown it. */
export const TERMINAL_WINDOW_BYTES = 512 * 1024;

/** How `WS /frontend-api/{kind}/{id}/terminal` is asked, beside the ticket. */
export const TerminalQuery = z.object({
  id: z.coerce.number(),
  /** Chosen by the browser for each new shell. */
  session: z.uuid(),
  shell: Shell.optional(),
  cols: z.coerce.number().pipe(TerminalSize.shape.cols),
  rows: z.coerce.number().pipe(TerminalSize.shape.rows),
  /** Resumes: output up to here has arrived. Without it a shell is started. */
  offset: z.coerce.number().int().min(0).optional(),
});
export type TerminalQuery = z.infer<typeof TerminalQuery>;

export const NO_SHELL = text('This image has no shell');

const UNREACHABLE = text('This server cannot be reached');
const TOO_OLD = text('The agent of this server is too old for this: install it again');
export const HOST_TERMINAL_FORBIDDEN = text('The policy of this server does not allow a terminal on it');
const NO_TASKS = text('A task has logs only');
const NOT_RUNNING = text('The container is not running');

/** Why a terminal on a server cannot be opened; null: it can. `features`: of its daemon. */
export function hostTerminalRefusal(server: { status: string; features: readonly string[] }): string | null {
  if (server.status !== 'online') return UNREACHABLE;
  if (!server.features.includes(TERMINAL_FEATURE)) return TOO_OLD;
  return server.features.includes(HOST_TERMINAL_FEATURE) ? null : HOST_TERMINAL_FORBIDDEN;
}

/** The same of a container. */
export function containerTerminalRefusal(container: {
  status: string;
  isTask: boolean;
  server: { status: string; features: readonly string[] };
}): string | null {
  if (container.isTask) return NO_TASKS;
  if (container.server.status !== 'online') return UNREACHABLE;
  if (container.status !== 'running') return NOT_RUNNING;
  return container.server.features.includes(TERMINAL_FEATURE) ? null : TOO_OLD;
}
