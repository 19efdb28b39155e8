import { CompiledQuery } from 'kysely';
import { type JobResult, PgBoss } from 'pg-boss';
import type { Logger } from 'pino';
import { connectionOptions } from '../db/pool.ts';
import type { Db } from '../db/schema.ts';

/** The jobs there are, with what each carries. Rows that are domain state have leases of their own instead. */
export interface Jobs {
  'mail.send': { mailId: number };
  'clean-up': Record<string, never>;
  'analytics.forward': { eventId: number };
  /** Without a run: one that nobody asked for. */
  'ledger.verify': { runId?: string };
  'ledger.seal': Record<string, never>;
  'provider.check': { checkId: number };
  /** Without a check: one that nobody asked for. */
  'audit.check': { checkId?: number };
}

export interface Queue {
  /**
   * Enqueues inside the transaction of `db`: the job exists exactly when the transaction commits. Of the jobs with one
   * `id` (a UUID) there is one, also for the week that an ended one is kept: false for the others.
   */
  enqueue<N extends keyof Jobs>(db: Db, name: N, data: Jobs[N], id?: string): Promise<boolean>;
}

export interface RunningQueue extends Queue {
  work<N extends keyof Jobs>(name: N, handler: (data: Jobs[N]) => Promise<void>): Promise<void>;
  every(name: keyof Jobs, cron: string): Promise<void>;
  stop(): Promise<void>;
}

/**
 * Jobs that wait are taken together: a notice wakes a worker once, however many jobs it stands for, and the next look
 * would be half a minute away. A full load is followed by another at once. Nobody is told when a try again is due.
 */
const TAKING = {
  batchSize: 5,
  burstWhenBatchFull: true,
  pollingIntervalSeconds: 2,
  notifyPollingIntervalSeconds: 2,
  // What takes long keeps only its own load waiting.
  localConcurrency: 2,
  perJobResults: true,
} as const;

/** Maintenance of the queue may take longer than a call. */
const STATEMENT_MS = 20_000;

/** How long a job may take; one that takes longer says that it lives, and is taken up by another when it does not. */
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
    ...connectionOptions(url, STATEMENT_MS),
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
      await boss.work<Jobs[typeof name], never, typeof TAKING>(name, TAKING, (jobs) =>
        Promise.all(jobs.map(async ({ id, data }) => outcome(id, handler(data)))),
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

/** Each job ends by itself: one that fails is tried again, without those that were taken along with it. */
async function outcome(id: string, work: Promise<void>): Promise<JobResult> {
  try {
    await work;
    return { id, status: 'completed' };
  } catch (error) {
    return { id, status: 'failed', output: { message: String(error) } };
  }
}
