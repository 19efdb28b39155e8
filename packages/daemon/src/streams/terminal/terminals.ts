import type { Duplex } from 'node:stream';
import type { StreamTarget } from '@stagi/contract/daemonStreams.ts';
import { TERMINAL_KEPT_SECONDS, TERMINALS_MAX } from '@stagi/contract/terminals.ts';
import { text } from '@stagi/contract/text.ts';
import type { ExecEngine } from '../../dockerExec.ts';
import { errorText, log } from '../../log.ts';
import { bootId } from '../../machine.ts';
import { RefusedStream } from '../streamServer.ts';
import { markOfExec, type Remember } from './containerShell.ts';
import { endTerminal } from './processes.ts';
import { type Session, startSession } from './session.ts';
import type { ShellProcess } from './shellProcess.ts';
import { openTerminalRecords } from './terminalRecords.ts';

const SWEEP_MS = 5000;

type Target = Extract<StreamTarget, { kind: 'terminal' }>;
type Owner = Pick<Target, 'user' | 'at'>;

/** The shells of this server that people have open. */
export interface Terminals {
  /**
   * Shows a session to a viewer: the one with this id if there is one and it is theirs, else a new one that `start`
   * makes. Throws RefusedStream.
   */
  attach(target: Target, accept: () => Duplex, start: (remember: Remember) => Promise<ShellProcess>): Promise<void>;
  /** Ends sessions that nobody has looked at for too long. Runs by itself. */
  sweep(): Promise<void>;
  /** Ends all of them. */
  close(): Promise<void>;
}

interface Held extends Owner {
  /** Null while it starts. */
  session: Session | null;
}

/** First ends what an earlier daemon has left behind. `now`: in ms, of a clock that only goes forward. */
export async function openTerminals(
  engine: ExecEngine,
  recordsPath: string,
  now: () => number = () => performance.now(),
): Promise<Terminals> {
  const records = await openTerminalRecords(recordsPath);
  const boot = await bootId();
  const held = new Map<string, Held>();
  // What does not end now is tried again by the next daemon.
  await endLeftovers();
  const timer = setInterval(() => void sweep(), SWEEP_MS);
  timer.unref();

  async function endLeftovers(): Promise<void> {
    await Promise.all(
      records.entries().map(async ([session, { bootId: itsBoot, mark: itsMark, execId, cgroup }]) => {
        try {
          const isOfThisBoot = itsBoot === boot;
          const mark = itsMark ?? (isOfThisBoot && execId && cgroup ? await markOfExec(engine, execId, cgroup) : null);
          const ended = isOfThisBoot && mark ? await endTerminal(mark) : 0;
          if (ended > 0) log(`terminals: ${ended} processes of an earlier daemon were ended`);
          await records.delete(session);
        } catch (error) {
          log(`a terminal of an earlier daemon could not be ended: ${errorText(error)}`);
        }
      }),
    );
  }

  function requireRoom({ user, at }: Owner): void {
    const open = [...held.values()].filter(({ session }) => !session?.hasEnded());
    const refuse = (reason: string): never => {
      throw new RefusedStream(429, reason);
    };
    const { ofContainer, ofUser, ofServer } = TERMINALS_MAX;
    if ('container' in at && open.filter((one) => isSame(one.at, at)).length >= ofContainer)
      refuse(text('This container has {{most}} terminals open already: close one', { most: ofContainer }));
    if (open.filter((one) => one.user === user).length >= ofUser)
      refuse(text('You have {{most}} terminals open on this server already: close one', { most: ofUser }));
    if (open.length >= ofServer)
      refuse(text('This server has {{most}} terminals open already: close one', { most: ofServer }));
  }

  async function begin(target: Target, start: (remember: Remember) => Promise<ShellProcess>): Promise<Session> {
    const { session: id, user, at } = target;
    if (target.offset !== null) throw new RefusedStream(404, text('This terminal has ended'));
    requireRoom({ user, at });
    const place: Held = { user, at, session: null };
    held.set(id, place);
    try {
      const shell = await start((record) => records.set(id, { ...record, bootId: boot }));
      place.session = startSession(shell, now, () => void forget(id));
      await shell.resize(target);
      return place.session;
    } catch (error) {
      held.delete(id);
      await forget(id);
      throw error;
    }
  }

  async function forget(id: string): Promise<void> {
    try {
      await records.delete(id);
    } catch (error) {
      log(`the record of a terminal could not be written: ${errorText(error)}`);
    }
  }

  async function sweep(): Promise<void> {
    for (const [id, { session }] of held) {
      const since = session?.unseenSince() ?? null;
      if (since === null || now() - since < TERMINAL_KEPT_SECONDS * 1000) continue;
      held.delete(id);
      await end(session);
    }
  }

  async function end(session: Session | null): Promise<void> {
    try {
      if (session && !session.hasEnded()) await session.end(null);
    } catch (error) {
      log(`a terminal could not be ended: ${errorText(error)}`);
    }
  }

  return {
    async attach(target, accept, start) {
      const known = held.get(target.session);
      if (known && known.user !== target.user) throw new RefusedStream(403, text('This terminal is of somebody else'));
      if (known && !isSame(known.at, target.at)) throw new RefusedStream(404, text('This terminal has ended'));
      if (known && !known.session) throw new RefusedStream(503, text('This terminal is being opened'));
      const session = known?.session ?? (await begin(target, start));
      session.attach(accept(), { offset: target.offset ?? 0, isNew: !known });
      if (known && !session.hasEnded()) await session.resize(target);
    },
    sweep,
    async close() {
      clearInterval(timer);
      await Promise.all([...held.values()].map(({ session }) => end(session)));
      held.clear();
    },
  };
}

function isSame(one: Target['at'], other: Target['at']): boolean {
  const id = (at: Target['at']): number | null => ('container' in at ? at.container : null);
  return id(one) === id(other);
}
