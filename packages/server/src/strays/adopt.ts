import { api } from '@stagi/contract/api.ts';
import type { ParsedInputOf } from '@stagi/contract/call.ts';
import { text } from '@stagi/contract/text.ts';
import { sql } from 'kysely';
import { recordForWorkspace } from '../audit/recordForWorkspace.ts';
import { lockAvailableBalance } from '../billing/spendOrder.ts';
import { announce } from '../bus/bus.ts';
import type { Context } from '../context.ts';
import { inTransaction } from '../db/pool.ts';
import type { Db, StrayRow } from '../db/schema.ts';
import { invalid, refused } from '../http/errors.ts';
import { isId } from '../http/paging.ts';
import { recordActivity } from '../instances/activity.ts';
import { announceInstance } from '../instances/status.ts';
import { makeLogBucket } from '../logBucket/make.ts';
import type { RentableOffer } from '../marketplace/offers.ts';
import { lockOperator } from '../people/lockedByOperator.ts';
import { storedOffer } from '../providers/storedOffer.ts';
import { lockUndecidedStray, recordDecision } from './queries.ts';

type Caller = Context & { user: { id: number } };
type Input = ParsedInputOf<typeof api.strays.adopt>;

/**
 * Assigns an orphaned machine to a workspace as a rented instance. Its members see that an operator did this, not which
 * one. The instance starts in `error`, as nothing is known of the machine yet; the next reconcile step changes that when the
 * machine is ready.
 */
export async function adoptStray(
  ctx: Caller,
  input: Input,
  offer: RentableOffer | null,
): Promise<{ stray: StrayRow; instanceId: number }> {
  return inTransaction(ctx.db, async (trx) => {
    await lockOperator(trx, ctx.user.id);
    const row = await lockUndecidedStray(trx, input.id);
    if (!offer || offer.provider.name !== row.provider)
      throw invalid(text('This offer does not belong to the cloud of the machine'), 'offerId');
    if (row.state === 'error') throw refused(text('This machine is broken: it can only be deleted'));
    // The same lock as for renting: an adoption and a disabling of the workspace run one after the other.
    await lockAvailableBalance(trx, input.workspaceId);
    await requireWorkspace(trx, input.workspaceId);
    const instanceId = await insert(trx, row, offer, input);
    const { workspaceId, slug, title } = input;
    await makeLogBucket(trx, { id: instanceId, workspaceId, slug, title });
    await recordActivity(trx, instanceId, { kind: 'adopted', to: 'error', detail: ADOPTION_DETAIL });
    await recordForWorkspace(trx, input.workspaceId, {
      action: api.strays.adopt.path,
      object: { type: 'instance-rented', id: String(instanceId), label: input.slug },
      detail: { title: input.title },
    });
    await announceInstance(trx, { id: instanceId, workspace_id: input.workspaceId, kind: 'rented' });
    await announce(trx, 'due', { kind: 'instance' });
    return { stray: await recordDecision(trx, row.id, 'adopt', ctx.user.id), instanceId };
  });
}

const ADOPTION_DETAIL = text('An operator found this machine and assigned it to the workspace');

async function requireWorkspace(trx: Db, id: number): Promise<void> {
  const found = await trx
    .selectFrom('workspace')
    .select('id')
    .where(isId('id', id))
    .where('disabled_at', 'is', null)
    .executeTakeFirst();
  if (!found) throw invalid(text('This workspace cannot be found'), 'workspaceId');
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
      status_reason: text('An operator adopted this machine; its state is being checked'),
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
  if (!made) throw invalid(text('This Unique ID is taken'), 'slug');
  return made.id;
}
