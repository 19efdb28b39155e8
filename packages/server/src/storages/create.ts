import type { api } from '@stagi/contract/api.ts';
import type { ParsedInputOf } from '@stagi/contract/call.ts';
import type { WorkspacePlan } from '@stagi/contract/planLimits.ts';
import { MICRO_PER_GB_MONTH } from '@stagi/contract/storageRules.ts';
import { text } from '@stagi/contract/text.ts';
import { sql } from 'kysely';
import { requireFirstDay } from '../billing/rentGate.ts';
import { endZeroBalance } from '../billing/zero.ts';
import { announce } from '../bus/bus.ts';
import type { Context } from '../context.ts';
import { inTransaction } from '../db/pool.ts';
import { invalid } from '../http/errors.ts';
import { locationsOf } from './locations.ts';
import { requireStorageQuota } from './quota.ts';
import { announceStorage } from './status.ts';

type Caller = Context & { user: { id: number }; workspace: { id: number } & WorkspacePlan };

/** Provisioning takes seconds; a location that does not answer for so long fails the creation. */
const DEADLINE = sql`interval '10 minutes'`;

export const priceOfSize = (sizeGb: number): bigint => BigInt(sizeGb) * MICRO_PER_GB_MONTH;

/** Stores a new storage; the worker makes its bucket. Returns its id. */
export async function createStorage(ctx: Caller, input: ParsedInputOf<typeof api.storages.create>): Promise<number> {
  const { title, slug, sizeGb, location } = input;
  if (!locationsOf(ctx.config).some(({ name }) => name === location))
    throw invalid(text('This location cannot be chosen'), 'location');
  return inTransaction(ctx.db, async (trx) => {
    await requireStorageQuota(trx, ctx.workspace, sizeGb);
    const price = priceOfSize(sizeGb);
    await requireFirstDay(trx, ctx.workspace.id, price);
    await endZeroBalance(trx, ctx.workspace.id, { resumesAll: false });
    const row = await trx
      .insertInto('storage')
      .values({
        workspace_id: ctx.workspace.id,
        kind: 'storage',
        slug,
        title,
        size_gb: sizeGb,
        location,
        price_per_month: price,
        created_by: ctx.user.id,
        status: 'renting',
        status_deadline: sql<Date>`clock_timestamp() + ${DEADLINE}`,
        next_at: sql<Date>`clock_timestamp()`,
      })
      .onConflict((conflict) => conflict.column('slug').where('closed_at', 'is', null).doNothing())
      .returning(['id', 'workspace_id'])
      .executeTakeFirst();
    // Unique on the platform: it is the name of the bucket.
    if (!row) throw invalid(text('This Unique ID is taken'), 'slug');
    await announceStorage(trx, row);
    await announce(trx, 'due', { kind: 'storage' });
    return row.id;
  });
}
