import { CompiledQuery } from 'kysely';
import { type JobResult, PgBoss } from 'pg-boss';
import type { Logger } from 'pino';
import { connectionOptions } from '../db/pool.ts';
import type { Db } from '../db/schema.ts';

/** The kinds of jobs with their payloads. Rows that are domain state have leases of their own instead. */
export interface Jobs {
  'mail.send': { mailId: number };
  'clean-up': Record<string, never>;
  'analytics.forward': { eventId: number };
  /** Without a run: started by the schedule. */
  'ledger.verify': { runId?: string };
  'ledger.seal': Record<string, never>;
  'provider.check': { checkId: number };
  /** Without a check: started by the schedule. */
  'audit.check': { checkId?: number };
}

export interface Queue {
  /**
   * Enqueues inside the transaction of `db`: the job exists exactly when the transaction commits. `id` (a UUID) makes it
   * idempotent: false when a job with this id exists, also for a week after it has ended.
   */
  enqueue<N extends keyof Jobs>(db: Db, name: N, data: Jobs[N], id?: string): Promise<boolean>;
}

export interface RunningQueue extends Queue {
  work<N extends keyof Jobs>(name: N, handler: (data: Jobs[N]) => Promise<void>): Promise<void>;
  every(name: keyof Jobs, cron: string): Promise<void>;
  stop(): Promise<void>;
}

/**
 * Jobs are fetched in batches: one notification wakes a worker once, for however many jobs. A full batch is followed by
 * another at once. Polling finds retries, which send no notification when they are due.
 */
const WORKER_OPTIONS = {
  batchSize: 5,
  burstWhenBatchFull: true,
  pollingIntervalSeconds: 2,
  notifyPollingIntervalSeconds: 2,
  // A long job delays only its own batch.
  localConcurrency: 2,
  perJobResults: true,
} as const;

/** Longer than for calls, for the maintenance of the queue. */
const STATEMENT_TIMEOUT_MS = 20_000;

/** Timeouts of jobs. A long job sends heartbeats; without them it is retried by another worker. */
const QUEUES: Record<keyof Jobs, { expireInSeconds: number; heartbeatSeconds?: number }> = {
  'mail.send': { expireInSeconds: 60 },
  'clean-up': { expireInSeconds: 60 },
  'analytics.forward': { expireInSeconds: 60 },
  'provider.check': { expireInSeconds: 60 },
  'ledger.verify': { expireInSeconds: 7_200, heartbeatSeconds: 30 },
  'audit.check': { expireInSeconds: 7_200, heartbeatSeconds: 30 },
  'ledger.seal': { expireInSeconds: 1_800, heartbeatSeconds: 30 },
};

export async function startQueue(url: string, log: Logger, options: { worker: boolean }): Promise<RunningQueue> {
  const boss = new PgBoss({
    ...connectionOptions(url, STATEMENT_TIMEOUT_MS),
    application_name: 'stagi-jobs',
    max: 4,
    supervise: options.worker,
    schedule: options.worker,
    useListenNotify: options.worker,
  });
  boss.on('error', (error) => log.error({ err: error }, 'job queue'));
  await boss.start();
  for (const [name, patience] of Object.entries(QUEUES))
    await boss.createQueue(name, { notify: true, retryLimit: 8, retryDelay: 2, retryBackoff: true, ...patience });
  return {
    async enqueue(db, name, data, id) {
      const made = await boss.send(name, data, {
        id,
        db: {
          async executeSql(text, values = []) {
            const result = await db.executeQuery<Record<string, unknown>>(CompiledQuery.raw(text, [...values]));
            return { rows: result.rows };
          },
        },
      });
      return made !== null;
    },
    async work(name, handler) {
      await boss.work<Jobs[typeof name], never, typeof WORKER_OPTIONS>(name, WORKER_OPTIONS, (jobs) =>
        Promise.all(jobs.map(async ({ id, data }) => runJob(id, handler(data)))),
      );
    },
    async every(name, cron) {
      await boss.schedule(name, cron);
    },
    async stop() {
      await boss.stop({ graceful: true, timeout: 5_000 });
    },
  };
}

/** Each job has its own result: a failed one is retried without the others of its batch. */
async function runJob(id: string, work: Promise<void>): Promise<JobResult> {
  try {
    await work;
    return { id, status: 'completed' };
  } catch (error) {
    return { id, status: 'failed', output: { message: String(error) } };
  }
}
