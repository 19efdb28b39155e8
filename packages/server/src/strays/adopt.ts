import { api } from '@stagi/contract/api.ts';
import type { ParsedInputOf } from '@stagi/contract/call.ts';
import { sql } from 'kysely';
import { holdOperator } from '../admin/operator.ts';
import { tellWorkspace } from '../admin/tellWorkspace.ts';
import { lockAvailable } from '../billing/spend.ts';
import { announce } from '../bus/bus.ts';
import type { Context } from '../context.ts';
import { inTransaction } from '../db/pool.ts';
import type { Db, StrayRow } from '../db/schema.ts';
import { invalid, refused } from '../http/errors.ts';
import { isId } from '../http/paging.ts';
import { recordActivity } from '../instances/activity.ts';
import { announceInstance } from '../instances/status.ts';
import type { RentableOffer } from '../marketplace/offers.ts';
import { storedOffer } from '../providers/offer.ts';
import { decide, undecidedStray } from './queries.ts';

type Caller = Context & { user: { id: number } };
type Input = ParsedInputOf<typeof api.strays.adopt>;

/**
 * Gives a machine to a workspace as a rented instance that nobody has rented: its members read that an operator did, not
 * who. It begins in `error`, which the worker's next look ends when the machine runs and is heard: nothing is known of it
 * until then.
 */
export async function adopt(
  ctx: Caller,
  input: Input,
  offer: RentableOffer | null,
): Promise<{ stray: StrayRow; instanceId: number }> {
  return inTransaction(ctx.db, async (trx) => {
    await holdOperator(trx, ctx.user.id);
    const row = await undecidedStray(trx, input.id);
    if (!offer || offer.provider.name !== row.provider) throw invalid('This is no offer of its cloud', 'offerId');
    if (row.state === 'error') throw refused('This machine is broken: it can only be deleted');
    // As whoever rents: of an adoption and a disabling at once the second waits, and sees what the first did.
    await lockAvailable(trx, input.workspaceId);
    await requireWorkspace(trx, input.workspaceId);
    const instanceId = await insert(trx, row, offer, input);
    await recordActivity(trx, instanceId, { kind: 'adopted', to: 'error', detail: FOUND });
    await tellWorkspace(trx, input.workspaceId, {
      action: api.strays.adopt.path,
      object: { type: 'instance-rented', id: String(instanceId), label: input.slug },
      detail: { title: input.title },
    });
    await announceInstance(trx, { id: instanceId, workspace_id: input.workspaceId, kind: 'rented' });
    await announce(trx, 'due', { kind: 'instance' });
    return { stray: await decide(trx, row.id, 'adopt', ctx.user.id), instanceId };
  });
}

const FOUND = 'An operator found this machine and gave it to the workspace';

async function requireWorkspace(trx: Db, id: number): Promise<void> {
  const found = await trx
    .selectFrom('workspace')
    .select('id')
    .where(isId('id', id))
    .where('disabled_at', 'is', null)
    .executeTakeFirst();
  if (!found) throw invalid('This workspace cannot be found', 'workspaceId');
}

async function insert(
  trx: Db,
  row: StrayRow,
  { provider, offer, pricePerHour, stoppedPricePerHour }: RentableOffer,
  { workspaceId, title, slug }: Input,
): Promise<number> {
  const made = await trx
    .insertInto('instance')
    .values({
      workspace_id: workspaceId,
      kind: 'rented',
      slug,
      title,
      created_by: null,
      status: 'error',
      status_reason: 'An operator has adopted this machine; it is being looked at',
      provider: provider.name,
      provider_ref: row.ref,
      machine_name: row.name,
      ip: row.ip,
      offer: JSON.stringify(storedOffer(provider, offer)),
      host_username: provider.traits.hostUsername,
      price_per_hour: pricePerHour,
      stopped_price_per_hour: stoppedPricePerHour,
      next_at: sql<Date>`now()`,
    })
    .onConflict((conflict) => conflict.columns(['workspace_id', 'slug']).where('closed_at', 'is', null).doNothing())
    .returning('id')
    .executeTakeFirst();
  if (!made) throw invalid('This Unique ID is taken', 'slug');
  return made.id;
}
