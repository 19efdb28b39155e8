import type { Context } from '../context.ts';
import { repeatEvery } from '../loops/repeatEvery.ts';
import { copyDueLogs } from './copyLogs.ts';
import { keepLogBuckets } from './keep.ts';

const COPY_PASS_MS = 1_000;
const KEEP_PASS_MS = 10_000;

/** Copies log lines to the buckets of their servers, and ends buckets whose time has come. */
export function startLogBucketWorker(ctx: Context): { stop(): Promise<void> } {
  const stopping = new AbortController();
  const loops = [
    repeatEvery(ctx, COPY_PASS_MS, 'copying logs', () => copyDueLogs(ctx, stopping.signal)),
    repeatEvery(ctx, KEEP_PASS_MS, 'keeping log buckets', () => keepLogBuckets(ctx)),
  ];
  return {
    async stop() {
      stopping.abort();
      await Promise.all(loops.map((loop) => loop.stop()));
    },
  };
}
