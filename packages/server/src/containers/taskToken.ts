import { timingSafeEqual } from 'node:crypto';
import type { Context } from '../context.ts';

const TOKEN = /^stt_([1-9]\d{0,9})_([A-Za-z0-9_-]{43})$/;
const ID_MAX = 2 ** 31 - 1;

/**
 * What the daemon of a server authenticates a run of a task with: `stt_{run}_{hash}`. It is derived, so that it need not
 * be stored; it works for as long as its run has not ended, which whoever accepts it checks.
 */
export function taskToken({ secrets }: Pick<Context, 'secrets'>, runId: number): string {
  return `stt_${runId}_${secrets.keyedHash(String(runId), 'task_run|token').toString('base64url')}`;
}

/** The run that a token names; null for a text that is no token of this platform. */
export function runOfTaskToken(ctx: Pick<Context, 'secrets'>, token: string): number | null {
  const id = Number(TOKEN.exec(token)?.[1]);
  if (!(id <= ID_MAX)) return null;
  const [given, right] = [Buffer.from(token), Buffer.from(taskToken(ctx, id))];
  return given.length === right.length && timingSafeEqual(given, right) ? id : null;
}
