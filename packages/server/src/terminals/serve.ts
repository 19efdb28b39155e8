import type { Duplex } from 'node:stream';
import { encodeTerminalFrame, encodeTerminalJson, FRAME, terminalFrames } from '@stagi/contract/terminalFrames.ts';
import {
  TERMINAL_WINDOW_BYTES,
  TerminalControl,
  TerminalEvent,
  type TerminalMessage,
  type TerminalQuery,
} from '@stagi/contract/terminals.ts';
import { text } from '@stagi/contract/text.ts';
import { isWithinRefusalLimit } from '../audit/record.ts';
import type { Context } from '../context.ts';
import { StreamRefused } from '../nodes/streamHub.ts';
import type { Served, Stream, StreamEnd } from '../sessions/stream.ts';
import {
  isOfSomebodyElse,
  markSeen,
  type Place,
  recordEnd,
  recordOpening,
  recordRefusal,
  SEEN_EVERY_MS,
} from './sessions.ts';

/** The ends of a stream by which its owner loses the right to the shell: it ends too. */
const ENDS_THE_SHELL: ReadonlySet<StreamEnd> = new Set(['signedOut', 'noAccess', 'workspaceGone']);

/** Input that comes before the daemon's stream is open is kept, up to this. */
const EARLY_MAX_BYTES = 64 * 1024;
/** Also of messages without a byte. */
const EARLY_MAX_MESSAGES = 1_000;

/** Connects the WebSocket of a browser with a session at the daemon. */
export function serveTerminal(
  ctx: Context,
  stream: Stream<TerminalMessage>,
  place: Place,
  { session, shell, cols, rows, offset }: TerminalQuery,
): Served {
  const { owner, client } = stream;
  const db = ctx.within(owner.workspace.id);
  const actor = { ...owner, ...client };
  let daemon: Duplex | null = null;
  /** Input goes to the daemon's stream from now on. */
  let isOpen = false;
  /** The daemon takes no more for now. */
  let isHeldUp = false;
  let over: StreamEnd | null = null;
  /** Messages that came before that. */
  let early: Uint8Array[] = [];
  let earlyBytes = 0;
  /** Offsets of the output: what was sent, and what the browser has shown of it. */
  let sent = offset ?? 0;
  let shown = offset ?? 0;
  let why: Parameters<typeof recordEnd>[4] | null = null;

  open().catch(async (error: unknown) => {
    if (error instanceof StreamRefused) return refuse(error);
    ctx.log.error({ err: error, session }, 'a terminal cannot be opened');
    daemon?.destroy();
    stream.close('tryAgain');
  });
  const seen = setInterval(() => note(() => markSeen(db, session)), SEEN_EVERY_MS);

  async function open(): Promise<void> {
    if (await isOfSomebodyElse(db, session, place, owner.user.id))
      throw new StreamRefused(404, text('This terminal has ended'));
    const opened = await ctx.streams.open(place.instanceId, {
      kind: 'terminal',
      session,
      user: owner.user.id,
      at: place.containerId === null ? { host: true } : { container: place.containerId },
      shell: shell ?? null,
      cols,
      rows,
      offset: offset ?? null,
    });
    opened.on('error', (error) => ctx.log.debug({ err: error, session }, 'the stream of a terminal broke off'));
    if (over) return leave(opened, over);
    daemon = opened;
    try {
      await recordOpening(db, session, place, actor);
    } catch (error) {
      // A shell that is not in the audit log must not run on.
      opened.end(encodeTerminalFrame(FRAME.close));
      throw error;
    }
    if (over) return;
    isOpen = true;
    for (const frame of early) toDaemon(frame);
    early = [];
    pass(opened);
  }

  function pass(from: Duplex): void {
    const frames = terminalFrames();
    from.on('data', (bytes: Buffer) => {
      try {
        for (const { kind, payload } of frames.take(bytes)) show(kind, payload);
      } catch (error) {
        ctx.log.warn({ err: error, session }, 'a daemon sends what is no terminal');
        from.destroy();
      }
      if (sent - shown > TERMINAL_WINDOW_BYTES) from.pause();
    });
    from.once('close', () => {
      if (!over && !why) stream.send({ type: 'lost' });
    });
  }

  function show(kind: number, payload: Uint8Array): void {
    if (kind === FRAME.output) {
      stream.sendBytes(payload);
      sent += payload.length;
    } else if (kind === FRAME.event) {
      const event = TerminalEvent.parse(JSON.parse(Buffer.from(payload).toString()));
      if (event.type === 'resumed') {
        sent = event.offset;
        shown = event.offset;
      }
      if (event.type === 'exit') end({ reason: event.reason ?? why?.reason ?? 'it ended', exitCode: event.code });
      stream.send(event);
    }
  }

  async function refuse({ status, message }: StreamRefused): Promise<void> {
    stream.send({ type: 'refused', message, retry: status === 503 });
    if (status === 503 || offset !== undefined || !(await isWithinRefusalLimit({ ...owner, config: ctx.config })))
      return;
    await note(() => recordRefusal(db, place, actor, message));
  }

  function end(reason: NonNullable<typeof why>): void {
    why = reason;
    void note(() => recordEnd(db, session, place, actor, reason));
  }

  function leave(from: Duplex, reason: StreamEnd): void {
    if (ENDS_THE_SHELL.has(reason)) {
      if (!why) end({ reason: 'access ended' });
      from.end(encodeTerminalFrame(FRAME.close));
    } else {
      void note(() => markSeen(db, session));
      from.destroy();
    }
  }

  function toDaemon(frame: Uint8Array, bytes = frame.length): void {
    if (!isOpen || !daemon) {
      // It takes a moment to open.
      earlyBytes += bytes;
      if (earlyBytes <= EARLY_MAX_BYTES && early.length < EARLY_MAX_MESSAGES) early.push(frame);
      else stream.close('tooMuch');
      return;
    }
    if (daemon.destroyed || daemon.writableEnded || daemon.write(frame) || isHeldUp) return;
    isHeldUp = true;
    stream.pause();
    daemon.once('drain', goOn).once('close', goOn);
  }

  function goOn(): void {
    isHeldUp = false;
    daemon!.off('drain', goOn).off('close', goOn);
    stream.resume();
  }

  async function note(write: () => Promise<void>): Promise<void> {
    try {
      await write();
    } catch (error) {
      ctx.log.error({ err: error, session }, 'what became of a terminal cannot be written down');
    }
  }

  return {
    receive(message) {
      if (typeof message !== 'string') return toDaemon(encodeTerminalFrame(FRAME.input, message), message.length);
      const control = TerminalControl.parse(JSON.parse(message));
      switch (control.type) {
        case 'resize':
          return toDaemon(encodeTerminalJson(FRAME.resize, { cols: control.cols, rows: control.rows }));
        case 'shown':
          shown = Math.min(Math.max(shown, control.offset), sent);
          if (sent - shown <= TERMINAL_WINDOW_BYTES) daemon?.resume();
          return;
        case 'close':
          why ??= { reason: 'closed' };
          return toDaemon(encodeTerminalFrame(FRAME.close));
        default:
          return control satisfies never;
      }
    },
    stop(reason) {
      over = reason;
      early = [];
      clearInterval(seen);
      if (daemon && !daemon.destroyed) leave(daemon, reason);
    },
  };
}
