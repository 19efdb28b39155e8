import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';

const PROBE_MS = 1_000;
const PROBE_INTERVAL_MS = 250;
/** The pool is exhausted when it has handed out no connection for this long while somebody waits. */
const EXHAUSTED_AFTER_MS = 3_000;
const TIMEOUT_MESSAGE = /^(Query read timeout|Connection terminated due to connection timeout)$/;

/** The database, or the pool, gives no connection in time. */
class DatabaseTimeout extends Error {
  readonly code = 'ETIMEDOUT';
}

type Answered = (error: Error | undefined, ...rest: unknown[]) => void;

/**
 * A circuit breaker for a pool, so that calls fail fast. For a database that accepts connections and answers nothing (a
 * frozen machine, a hanging disk, a network that drops packets): after a timeout the circuit opens, and no connection is
 * handed out until a probe over a separate connection is answered. For an exhausted pool: further callers are refused at
 * once. A connection that timed out is not used again.
 */
export function addCircuitBreaker(pool: pg.Pool, url: string): { stop(): void } {
  const stopping = new AbortController();
  let isProbing = false;
  let isOpen = false;
  let acquiredAt = 0;
  let queuedAt = 0;

  const checkTimeout = (error: unknown): boolean => {
    const isMute = error instanceof Error && TIMEOUT_MESSAGE.test(error.message);
    if (isMute && !isProbing && !stopping.signal.aborted) void probeUntilAnswered();
    return isMute;
  };
  async function probeUntilAnswered(): Promise<void> {
    isProbing = true;
    while (!stopping.signal.aborted && !(await databaseAnswers(url))) {
      isOpen = true;
      await pause(PROBE_INTERVAL_MS, null, { ref: false });
    }
    isOpen = false;
    isProbing = false;
  }

  pool.on('connect', (client) => {
    // The pool does not listen to a connection in use; its user gets the error of the failed query.
    client.on('error', checkTimeout);
    const query = client.query.bind(client) as (...args: unknown[]) => unknown;
    const onQueryError = (error: unknown): void => {
      // A late answer must not be taken for that of the next query.
      if (checkTimeout(error)) client.connection.stream.destroy();
    };
    client.query = ((...args: unknown[]) => {
      const last = args.at(-1);
      if (typeof last === 'function') {
        args[args.length - 1] = (error: Error | undefined, ...rest: unknown[]) => {
          if (error) onQueryError(error);
          (last as Answered)(error, ...rest);
        };
        return query(...args);
      }
      const answer = query(...args);
      if (answer instanceof Promise) answer.catch(onQueryError);
      return answer;
    }) as typeof client.query;
  });

  pool.on('acquire', () => {
    acquiredAt = performance.now();
  });
  const isExhausted = (): boolean => {
    const now = performance.now();
    if (pool.waitingCount === 0) queuedAt = now;
    return now - Math.max(acquiredAt, queuedAt) > EXHAUSTED_AFTER_MS;
  };

  const connect = pool.connect.bind(pool) as (callback?: Answered) => Promise<pg.PoolClient> | undefined;
  pool.connect = ((callback?: Answered) => {
    if (isOpen || isExhausted()) {
      const error = new DatabaseTimeout(isOpen ? 'the database does not answer' : 'every connection is taken');
      return callback ? void process.nextTick(callback, error) : Promise.reject(error);
    }
    if (callback) {
      return connect((error, ...rest) => {
        if (error) checkTimeout(error);
        callback(error, ...rest);
      });
    }
    const lent = connect()!;
    lent.catch(checkTimeout);
    return lent;
  }) as typeof pool.connect;

  return { stop: () => stopping.abort() };
}

/** Whether the database answers a new connection in time. A refusal counts as an answer, as callers get it at once too. */
async function databaseAnswers(url: string): Promise<boolean> {
  const probe = new pg.Client({
    connectionString: url,
    connectionTimeoutMillis: PROBE_MS,
    query_timeout: PROBE_MS,
    application_name: 'stagi-probe',
  });
  probe.on('error', () => {
    // `connect` or the query throws it.
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
