import type { Container } from '@stagi/contract/containers.ts';
import type { ActualContainer } from '@stagi/contract/daemon.ts';
import { sql } from 'kysely';
import { announce } from '../bus/bus.ts';
import type { ContainerRow, Db } from '../db/schema.ts';

/** A container that has run as long since its last end is steady. */
const STEADY_AFTER_MS = 60_000;
const MAX_PER_PASS = 100;

type Row = Pick<
  ContainerRow,
  'id' | 'status' | 'started_at' | 'restarts' | 'last_exit_code' | 'last_ended_at' | 'next_try_at' | 'looping_until'
>;

/**
 * Keeps how often the restart policy has started a container, and how it ended before. Returns whether that is new. The
 * container's row must be locked.
 */
export async function recordRestarts(trx: Db, row: Row, actual: ActualContainer): Promise<boolean> {
  if (actual.state !== 'running' && actual.state !== 'restarting') return endLoop(trx, row);
  const waits = actual.state === 'restarting';
  // Earlier daemons do not count.
  const count = actual.restarts ?? Math.max(row.restarts, waits ? 1 : 0);
  if (count === 0) return row.restarts > 0 && forgetRestarts(trx, row.id);
  const endedAt = dateOf(actual.finishedAt);
  const isSame =
    count === row.restarts &&
    waits === (row.next_try_at !== null) &&
    endedAt?.getTime() === row.last_ended_at?.getTime();
  if (isSame) return false;
  const waitMs = waits ? restartDelayMs(count, actual) : 0;
  const exitCode = waits ? actual.exitCode : (actual.lastExitCode ?? row.last_exit_code);
  await trx
    .updateTable('container')
    .set({
      restarts: count,
      last_exit_code: exitCode,
      last_ended_at: endedAt,
      // By the platform's clock: that of the server may be another.
      next_try_at: waits ? inMs(waitMs) : null,
      looping_until: inMs(waitMs + STEADY_AFTER_MS),
    })
    .where('id', '=', row.id)
    .execute();
  return true;
}

const FIRST_DELAY_MS = 100;
const LONGEST_DELAY_MS = 60_000;
/** A run as long is no failure to start: the next delay is the first again. */
const LONG_RUN_MS = 10_000;

/**
 * At most how long Docker waits before it starts a container again: 100 ms, doubled at each end of a run below 10 s, at
 * most a minute. Docker does not tell it. Source: `restartmanager/restartmanager.go` of github.com/moby/moby.
 */
export function restartDelayMs(restarts: number, actual: Pick<ActualContainer, 'startedAt' | 'finishedAt'>): number {
  const [started, finished] = [dateOf(actual.startedAt), dateOf(actual.finishedAt)];
  const ranMs = started && finished ? finished.getTime() - started.getTime() : 0;
  if (ranMs >= LONG_RUN_MS) return FIRST_DELAY_MS;
  return Math.min(FIRST_DELAY_MS * 2 ** (restarts - 1), LONGEST_DELAY_MS);
}

export function presentRestarts(row: Row): Container['restarts'] {
  if (row.status !== 'running' || row.restarts === 0) return null;
  return {
    count: row.restarts,
    isLooping: row.looping_until !== null && row.looping_until > new Date(),
    exitCode: row.last_exit_code,
    endedAt: row.last_ended_at?.toISOString() ?? null,
    nextTryAt: row.next_try_at?.toISOString() ?? null,
  };
}

/** Containers that have run for a while since their last end. */
export async function endLoops(db: Db): Promise<void> {
  const { rows } = await sql<{ id: number; workspace_id: number }>`update container set looping_until = null
    where id in (select id from container where looping_until < now() order by looping_until limit ${MAX_PER_PASS}
      for no key update skip locked)
    returning id, workspace_id`.execute(db);
  for (const { id, workspace_id } of rows)
    await announce(db, 'changed', { entity: 'docker-container', id, workspaceId: workspace_id });
}

async function endLoop(trx: Db, row: Row): Promise<boolean> {
  if (row.looping_until === null && row.next_try_at === null) return false;
  await trx.updateTable('container').set({ looping_until: null, next_try_at: null }).where('id', '=', row.id).execute();
  return true;
}

async function forgetRestarts(trx: Db, id: number): Promise<boolean> {
  await trx
    .updateTable('container')
    .set({ restarts: 0, last_exit_code: null, last_ended_at: null, next_try_at: null, looping_until: null })
    .where('id', '=', id)
    .execute();
  return true;
}

const inMs = (ms: number) => sql<Date>`now() + ${`${ms} milliseconds`}::interval`;

function dateOf(moment: string | null): Date | null {
  const time = moment === null ? Number.NaN : Date.parse(moment);
  return Number.isNaN(time) ? null : new Date(time);
}
