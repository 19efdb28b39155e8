import type { LogCursor, PlatformMessage } from '@stagi/contract/daemon.ts';
import { pause } from './deadline.ts';
import type { Engine } from './docker.ts';
import { reasonOf, say } from './log.ts';
import type { Outbox } from './logOutbox.ts';
import { shipLog } from './logStream.ts';
import { isLive, type SeenContainer } from './plan.ts';
import type { Session } from './session.ts';

type LogMessage = Extract<PlatformMessage, { type: 'log-resume' | 'credit' | 'log-refuse' }>;
type Watched = Pick<SeenContainer, 'id' | 'dockerId' | 'state' | 'startedAt'>;

/** Ships the logs of all our containers over the link of the day. */
export interface LogShipper {
  /** A new link: everything that is observed from now on is opened anew, from the platform's cursors. */
  attach(session: Session): void;
  /** What Docker shows now: opens streams for what has something to say and tells the open ones to look again. */
  observe(containers: readonly Watched[]): void;
  /** Opens a stream before its container is started, so that the first line waits for nobody. */
  expect(containerId: number, dockerId: string): void;
  /** A container has been started or stopped. */
  nudge(dockerId: string): void;
  receive(message: LogMessage): void;
  /** Resolves when everything that a stopped container printed was sent, or after `ms`. */
  drained(dockerId: string, ms: number): Promise<void>;
}

type Resume = Extract<LogMessage, { type: 'log-resume' }>;

interface Open {
  resume(message: Resume): void;
  allow: Outbox['allow'];
  refuse(reason: string): void;
  nudge(): void;
  ended: Promise<void>;
}

export function logShipper(engine: Engine): LogShipper {
  let link: Link | null = null;

  return {
    attach(session) {
      link = openLink(engine, session);
    },
    observe(containers) {
      link?.observe(containers);
    },
    expect(containerId, dockerId) {
      link?.open(containerId, dockerId);
    },
    nudge(dockerId) {
      link?.find(dockerId)?.nudge();
    },
    receive(message) {
      link?.receive(message);
    },
    async drained(dockerId, ms) {
      const open = link?.find(dockerId);
      if (!open) return;
      const enough = new AbortController();
      await Promise.race([open.ended, pause(ms, enough.signal)]);
      enough.abort();
    },
  };
}

interface Link {
  open(containerId: number, dockerId: string): void;
  find(dockerId: string): Open | undefined;
  observe(containers: readonly Watched[]): void;
  receive(message: LogMessage): void;
}

/** The streams of one link; their numbers are never used twice on it. */
function openLink(engine: Engine, session: Session): Link {
  const streams = new Map<number, Open>();
  const byContainer = new Map<string, Open>();
  /** Which run of a container has been sent to its end: its start time. */
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
      // Also those whose container is not shown any more: they end by that.
      for (const task of byContainer.values()) task.nudge();
      for (const { id, dockerId, state, startedAt } of containers) {
        if (state === 'created' || state === 'removing') continue;
        const sent = complete.has(dockerId) && complete.get(dockerId) === startedAt;
        if (!sent || isLive({ state })) open(id, dockerId);
      }
    },
    receive(message) {
      const task = streams.get(message.stream);
      if (!task) return;
      switch (message.type) {
        case 'log-resume':
          return task.resume(message);
        case 'credit':
          return task.allow(message.offset, message.offset + message.bytes);
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
  session: Session,
  stream: number,
  dockerId: string,
  onEnd: (run: string | null) => void,
): Open {
  const { signal } = session;
  let resumed = expectResume();
  let changed = Promise.withResolvers<void>();
  let rewound = new AbortController();
  let allow: Outbox['allow'] | null = null;
  signal.addEventListener(
    'abort',
    () => {
      resumed.reject(signal.reason);
      changed.resolve();
    },
    { once: true },
  );

  /** From one cursor to the end; once more when the platform sends the stream back to an earlier one. */
  async function ship(): Promise<void> {
    try {
      for (let done = false; !done; ) {
        const { cursor, credit } = await resumed.promise;
        resumed = expectResume();
        rewound = new AbortController();
        done = await shipFrom(cursor, cursor.offset + credit);
      }
    } catch (error) {
      if (!signal.aborted) say(`the log of ${dockerId.slice(0, 12)} is not sent: ${reasonOf(error)}`);
    }
  }
  async function shipFrom(cursor: LogCursor, limit: number): Promise<boolean> {
    const rewind = rewound.signal;
    try {
      const run = await shipLog({
        engine,
        session,
        signal: AbortSignal.any([signal, rewind]),
        stream,
        dockerId,
        cursor,
        limit,
        changed: () => changed.promise,
        onOutbox: (raise) => {
          allow = raise;
        },
      });
      session.send({ type: 'log-end', stream });
      onEnd(run);
      return true;
    } catch (error) {
      if (!signal.aborted && rewind.aborted) return false;
      throw error;
    }
  }
  return {
    resume(message) {
      resumed.resolve(message);
      rewound.abort();
    },
    allow: (stored, limit) => allow?.(stored, limit),
    refuse: (reason) => resumed.reject(new Error(`the platform refused it: ${reason}`)),
    nudge() {
      changed.resolve();
      changed = Promise.withResolvers();
      if (signal.aborted) changed.resolve();
    },
    ended: ship(),
  };
}

/** Rejected when the link goes, which nobody may be waiting for then. */
function expectResume(): PromiseWithResolvers<Resume> {
  const resume = Promise.withResolvers<Resume>();
  resume.promise.catch(() => {});
  return resume;
}
