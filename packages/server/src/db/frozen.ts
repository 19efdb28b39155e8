import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';

const PROBE_MS = 1_000;
const PROBE_EVERY_MS = 250;
/** Nobody was given a connection for so long though somebody waits: whoever comes now would wait in vain. */
const STUCK_MS = 3_000;
const NO_ANSWER = /^(Query read timeout|Connection terminated due to connection timeout)$/;

/** A connection that was waited for in vain; nobody else is made to wait. */
class NoAnswer extends Error {
  readonly code = 'ETIMEDOUT';
}

type Answered = (error: Error | undefined, ...rest: unknown[]) => void;

/**
 * Keeps callers from waiting in vain. For a database that takes connections and answers nothing (a frozen machine, a
 * disk that hangs, a network that swallows): once somebody has waited for nothing it is asked aside, and until it
 * answers there no connection is given out. For a pool whose connections all hang: whoever comes behind those that wait
 * already is refused at once. A connection that did not answer is never used again.
 */
export function guard(pool: pg.Pool, url: string): { stop(): void } {
  const stopping = new AbortController();
  let isAsking = false;
  let isFrozen = false;
  let givenAt = 0;
  let queuedAt = 0;

  const suspect = (error: unknown): boolean => {
    const isMute = error instanceof Error && NO_ANSWER.test(error.message);
    if (isMute && !isAsking && !stopping.signal.aborted) void ask();
    return isMute;
  };
  async function ask(): Promise<void> {
    isAsking = true;
    while (!stopping.signal.aborted && !(await answers(url))) {
      isFrozen = true;
      await pause(PROBE_EVERY_MS, null, { ref: false });
    }
    isFrozen = false;
    isAsking = false;
  }

  pool.on('connect', (client) => {
    // While a connection is lent out the pool does not listen; who holds it is told by the query that fails.
    client.on('error', suspect);
    const query = client.query.bind(client) as (...args: unknown[]) => unknown;
    const watched = (error: unknown): void => {
      // The answer may still come, and must not be taken for that of the next query.
      if (suspect(error)) client.connection.stream.destroy();
    };
    client.query = ((...args: unknown[]) => {
      const last = args.at(-1);
      if (typeof last === 'function') {
        args[args.length - 1] = (error: Error | undefined, ...rest: unknown[]) => {
          if (error) watched(error);
          (last as Answered)(error, ...rest);
        };
        return query(...args);
      }
      const answer = query(...args);
      if (answer instanceof Promise) answer.catch(watched);
      return answer;
    }) as typeof client.query;
  });

  pool.on('acquire', () => {
    givenAt = performance.now();
  });
  const isStuck = (): boolean => {
    const now = performance.now();
    if (pool.waitingCount === 0) queuedAt = now;
    return now - Math.max(givenAt, queuedAt) > STUCK_MS;
  };

  const connect = pool.connect.bind(pool) as (callback?: Answered) => Promise<pg.PoolClient> | undefined;
  pool.connect = ((callback?: Answered) => {
    if (isFrozen || isStuck()) {
      const error = new NoAnswer(isFrozen ? 'the database does not answer' : 'every connection is taken');
      return callback ? void process.nextTick(callback, error) : Promise.reject(error);
    }
    if (callback) {
      return connect((error, ...rest) => {
        if (error) suspect(error);
        callback(error, ...rest);
      });
    }
    const lent = connect()!;
    lent.catch(suspect);
    return lent;
  }) as typeof pool.connect;

  return { stop: () => stopping.abort() };
}

/** Whether a fresh connection is answered in time. A refusal is an answer: the callers hear it themselves, at once. */
async function answers(url: string): Promise<boolean> {
  const probe = new pg.Client({
    connectionString: url,
    connectionTimeoutMillis: PROBE_MS,
    query_timeout: PROBE_MS,
    application_name: 'stagi-probe',
  });
  probe.on('error', () => {
    // It is of no use any more; the query or the connecting tells.
  });
  try {
    await probe.connect();
    await probe.query('select 1');
    return true;
  } catch (error) {
    return !/timeout/.test((error as Error).message);
  } finally {
    probe.connection.stream.destroy();
  }
}
