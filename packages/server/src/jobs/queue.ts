import { CompiledQuery } from 'kysely';
import { PgBoss } from 'pg-boss';
import type { Logger } from 'pino';
import { connectionOptions } from '../db/pool.ts';
import type { Db } from '../db/schema.ts';

/** The jobs there are, with what each carries. Rows that are domain state have leases of their own instead. */
export interface Jobs {
  'mail.send': { mailId: number };
  'clean-up': Record<string, never>;
  'analytics.forward': { eventId: number };
}

export interface Queue {
  /** Enqueues inside the transaction of `db`: the job exists exactly when the transaction commits. */
  enqueue<N extends keyof Jobs>(db: Db, name: N, data: Jobs[N]): Promise<void>;
}

export interface RunningQueue extends Queue {
  work<N extends keyof Jobs>(name: N, handler: (data: Jobs[N]) => Promise<void>): Promise<void>;
  every(name: keyof Jobs, cron: string): Promise<void>;
  stop(): Promise<void>;
}

/** Maintenance of the queue may take longer than a call. */
const STATEMENT_MS = 20_000;

const NAMES: readonly (keyof Jobs)[] = ['mail.send', 'clean-up', 'analytics.forward'];

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
  for (const name of NAMES)
    await boss.createQueue(name, {
      notify: true,
      retryLimit: 8,
      retryDelay: 2,
      retryBackoff: true,
      expireInSeconds: 60,
    });
  return {
    async enqueue(db, name, data) {
      await boss.send(name, data, {
        db: {
          async executeSql(text, values = []) {
            const result = await db.executeQuery<Record<string, unknown>>(CompiledQuery.raw(text, [...values]));
            return { rows: result.rows };
          },
        },
      });
    },
    async work(name, handler) {
      await boss.work<Jobs[typeof name]>(name, { batchSize: 1, pollingIntervalSeconds: 2 }, async (jobs) => {
        for (const job of jobs) await handler(job.data);
      });
    },
    async every(name, cron) {
      await boss.schedule(name, cron);
    },
    async stop() {
      await boss.stop({ graceful: true, timeout: 5_000 });
    },
  };
}
