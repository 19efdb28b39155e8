import type { RentedStatus } from '@stagi/contract/instances.ts';
import type { Selectable } from 'kysely';
import { sql } from 'kysely';
import type { ProviderOpTable } from '../db/computeTables.ts';
import type { Db, InstanceRow } from '../db/schema.ts';
import type { Machine, ProviderTraits } from '../providers/provider.ts';

export type Effect = 'start' | 'stop' | 'resume' | 'reboot' | 'terminate';
export type ProviderOp = Selectable<ProviderOpTable>;

/** Everything a decision depends on: what is stored, what the daemon said, what the cloud shows. */
export interface InstanceSnapshot {
  /** The database's clock. */
  now: Date;
  row: Omit<InstanceRow, 'status'> & { status: RentedStatus };
  /** The newest operation of each kind. */
  ops: Partial<Record<Effect, ProviderOp>>;
  daemon: { connectedAt: Date | null; disconnectedAt: Date | null; seenAt: Date | null } | null;
  traits: Pick<ProviderTraits, 'readiness'>;
  /** What the cloud shows; `null`: nothing of that name. */
  machine: Machine | null;
}

/** What is stored about an instance; `null` when it is closed. */
export async function loadSnapshot(db: Db, id: number): Promise<Omit<InstanceSnapshot, 'machine' | 'traits'> | null> {
  const row = await db
    .selectFrom('instance')
    .selectAll()
    .select(sql<Date>`clock_timestamp()`.as('now'))
    .where('id', '=', id)
    .where('closed_at', 'is', null)
    .executeTakeFirst();
  if (!row) return null;
  const [ops, node] = await Promise.all([
    db
      .selectFrom('provider_op')
      .selectAll()
      .distinctOn('kind')
      .where('instance_id', '=', id)
      .orderBy('kind')
      .orderBy('created_at', 'desc')
      .execute(),
    db
      .selectFrom('daemon_node')
      .select(['version', 'connected_at', 'disconnected_at', 'last_seen_at'])
      .where('instance_id', '=', id)
      .executeTakeFirst(),
  ]);
  const { now, ...stored } = row;
  return {
    now,
    row: { ...stored, status: stored.status as RentedStatus },
    ops: Object.fromEntries(ops.map((op) => [op.kind, op])),
    daemon: node
      ? {
          // The first connection counts only after its hello.
          connectedAt: node.version === null ? null : node.connected_at,
          disconnectedAt: node.disconnected_at,
          seenAt: node.last_seen_at,
        }
      : null,
  };
}

/** The machine's name at its cloud; an adopted machine keeps its own. */
export function machineName(environment: string, row: Pick<InstanceRow, 'id' | 'machine_name'>): string {
  return row.machine_name ?? `stagi-${environment}-${row.id}`;
}
