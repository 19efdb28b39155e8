import type { LogCursor, PlatformMessage } from '@stagi/contract/daemon.ts';
import type { Engine } from './docker.ts';
import type { LinkSession } from './linkSession.ts';
import { errorText, log } from './log.ts';
import type { LogOutbox } from './logOutbox.ts';
import { isRunning, type SeenContainer } from './plan.ts';
import { shipLog } from './shipLog.ts';
import { sleep } from './timing.ts';

type LogMessage = Extract<PlatformMessage, { type: 'log-resume' | 'credit' | 'log-refuse' }>;
type Watched = Pick<SeenContainer, 'id' | 'dockerId' | 'state' | 'startedAt'>;

/** Ships the logs of all our containers over the current link. */
export interface LogShipper {
  /** Switches to a new link: all streams are opened again, from the platform's cursors. */
  attach(session: LinkSession): void;
  /** Takes the containers that Docker shows now: opens missing streams and has the open ones recheck. */
  observe(containers: readonly Watched[]): void;
  /** Opens a stream before its container is started, so that the first line is not delayed. */
  openLogStream(containerId: number, dockerId: string): void;
  /** Has a stream look at its container again, which was started or stopped. */
  recheck(dockerId: string): void;
  receive(message: LogMessage): void;
  /** Resolves when the whole log of a stopped container was sent, or after `ms`. */
  drained(dockerId: string, ms: number): Promise<void>;
}

type ResumeMessage = Extract<LogMessage, { type: 'log-resume' }>;

interface LogStream {
  resume(message: ResumeMessage): void;
  grantCredit: LogOutbox['grantCredit'];
  refuse(reason: string): void;
  recheck(): void;
  ended: Promise<void>;
}

export function logShipper(engine: Engine): LogShipper {
  let streams: LinkStreams | null = null;

  return {
    attach(session) {
      streams = openLinkStreams(engine, session);
    },
    observe(containers) {
      streams?.observe(containers);
    },
    openLogStream(containerId, dockerId) {
      streams?.open(containerId, dockerId);
    },
    recheck(dockerId) {
      streams?.find(dockerId)?.recheck();
    },
    receive(message) {
      streams?.receive(message);
    },
    async drained(dockerId, ms) {
      const open = streams?.find(dockerId);
      if (!open) return;
      const timeout = new AbortController();
      await Promise.race([open.ended, sleep(ms, timeout.signal)]);
      timeout.abort();
    },
  };
}

interface LinkStreams {
  open(containerId: number, dockerId: string): void;
  find(dockerId: string): LogStream | undefined;
  observe(containers: readonly Watched[]): void;
  receive(message: LogMessage): void;
}

/** The log streams of one link; stream numbers are not reused. */
function openLinkStreams(engine: Engine, session: LinkSession): LinkStreams {
  const streams = new Map<number, LogStream>();
  const byContainer = new Map<string, LogStream>();
  /** The run of a container (its start time) whose log was sent to its end. */
  const complete = new Map<string, string | null>();
  let lastStream = 0;

  function open(containerId: number, dockerId: string): void {
    if (byContainer.has(dockerId) || session.signal.aborted) return;
    const stream = ++lastStream;
    const task = openStream(engine, session, stream, dockerId, (run) => {
      complete.set(dockerId, run);
      streams.delete(stream);
      byContainer.delete(dockerId);
    });
    streams.set(stream, task);
    byContainer.set(dockerId, task);
    session.send({ type: 'log-open', stream, containerId, epoch: dockerId });
  }

  return {
    open,
    find: (dockerId) => byContainer.get(dockerId),
    observe(containers) {
      // Also the streams whose container is gone: this ends them.
      for (const task of byContainer.values()) task.recheck();
      for (const { id, dockerId, state, startedAt } of containers) {
        if (state === 'created' || state === 'removing') continue;
        const sent = complete.has(dockerId) && complete.get(dockerId) === startedAt;
        if (!sent || isRunning({ state })) open(id, dockerId);
      }
    },
    receive(message) {
      const task = streams.get(message.stream);
      if (!task) return;
      switch (message.type) {
        case 'log-resume':
          return task.resume(message);
        case 'credit':
          return task.grantCredit(message.offset, message.offset + message.bytes);
        case 'log-refuse':
          return task.refuse(message.reason);
        default:
          message satisfies never;
      }
    },
  };
}

function openStream(
  engine: Engine,
  session: LinkSession,
  stream: number,
  dockerId: string,
  onEnd: (run: string | null) => void,
): LogStream {
  const { signal } = session;
  let resumeMessage = expectResume();
  let changed = Promise.withResolvers<void>();
  let rewind = new AbortController();
  let grantCredit: LogOutbox['grantCredit'] | null = null;
  signal.addEventListener(
    'abort',
    () => {
      resumeMessage.reject(signal.reason);
      changed.resolve();
    },
    { once: true },
  );

  /** Ships from a cursor to the end, and again whenever the platform rewinds the stream to an earlier one. */
  async function ship(): Promise<void> {
    try {
      for (let done = false; !done; ) {
        const { cursor, credit } = await resumeMessage.promise;
        resumeMessage = expectResume();
        rewind = new AbortController();
        done = await shipFrom(cursor, cursor.offset + credit);
      }
    } catch (error) {
      if (!signal.aborted) log(`the log of ${dockerId.slice(0, 12)} is not sent: ${errorText(error)}`);
    }
  }
  async function shipFrom(cursor: LogCursor, limit: number): Promise<boolean> {
    const rewound = rewind.signal;
    try {
      const run = await shipLog({
        engine,
        session,
        signal: AbortSignal.any([signal, rewound]),
        stream,
        dockerId,
        cursor,
        limit,
        containerChanged: () => changed.promise,
        onOutboxOpen: (grant) => {
          grantCredit = grant;
        },
      });
      session.send({ type: 'log-end', stream });
      onEnd(run);
      return true;
    } catch (error) {
      if (!signal.aborted && rewound.aborted) return false;
      throw error;
    }
  }
  return {
    resume(message) {
      resumeMessage.resolve(message);
      rewind.abort();
    },
    grantCredit: (stored, limit) => grantCredit?.(stored, limit),
    refuse: (reason) => resumeMessage.reject(new Error(`the platform refused it: ${reason}`)),
    recheck() {
      changed.resolve();
      changed = Promise.withResolvers();
      if (signal.aborted) changed.resolve();
    },
    ended: ship(),
  };
}

/** Rejected on a disconnect; the empty handler is for when nothing awaits it then. */
function expectResume(): PromiseWithResolvers<ResumeMessage> {
  const resume = Promise.withResolvers<ResumeMessage>();
  resume.promise.catch(() => {});
  return resume;
}
