import type { api } from '@stagi/contract/api.ts';
import type { ParsedInputOf } from '@stagi/contract/call.ts';
import { crashPoint } from '@stagi/contract/crashPoints.ts';
import { fromDecimal, toDecimal } from '@stagi/contract/money.ts';
import type { WorkspacePlan } from '@stagi/contract/planLimits.ts';
import { text } from '@stagi/contract/text.ts';
import { sql } from 'kysely';
import { requireOneHour } from '../billing/rentGate.ts';
import { endZeroBalance } from '../billing/zero.ts';
import { announce } from '../bus/bus.ts';
import type { Context } from '../context.ts';
import { inTransaction } from '../db/pool.ts';
import type { Db } from '../db/schema.ts';
import { invalid, refused } from '../http/errors.ts';
import { isId } from '../http/paging.ts';
import { makeLogBucket } from '../logBucket/make.ts';
import type { RentableOffer } from '../marketplace/offers.ts';
import { storedOffer } from '../providers/storedOffer.ts';
import { recordActivity } from './activity.ts';
import { requireQuota } from './quota.ts';
import { announceInstance } from './status.ts';

type Caller = Context & { user: { id: number }; workspace: { id: number } & WorkspacePlan };
type Input = ParsedInputOf<typeof api.instances.rent>;

/** Stores a new instance for the offer, as it was found just now; the worker starts the machine. Returns the instance's id. */
export async function rent(ctx: Caller, input: Input, found: RentableOffer | null): Promise<number> {
  return inTransaction(ctx.db, async (trx) => {
    await requireOwnKey(trx, ctx.user.id, input.sshKeyId);
    await requireFreeSlug(trx, ctx.workspace.id, input.slug);
    if (!found) throw refused(text('This server is no longer available. Choose another one.'));
    requirePrice(found, input.maxPricePerHour);
    await requireQuota(trx, ctx.workspace, { hasGpu: found.offer.gpu !== null, added: 1 });
    const { pricePerHour, provider } = found;
    await requireOneHour(trx, ctx.workspace.id, { pricePerHour, canStop: provider.traits.canStop });
    await endZeroBalance(trx, ctx.workspace.id, { resumesAll: false });
    const id = await insert(trx, ctx, found, input);
    await makeLogBucket(trx, { id, workspaceId: ctx.workspace.id, slug: input.slug, title: input.title });
    await trx.insertInto('instance_ssh_key').values({ instance_id: id, ssh_key_id: input.sshKeyId }).execute();
    await recordActivity(trx, id, { kind: 'rented', actorId: ctx.user.id, to: 'in queue' });
    await announceInstance(trx, { id, workspace_id: ctx.workspace.id, kind: 'rented' });
    await announce(trx, 'due', { kind: 'instance' });
    crashPoint('instance-rented/rent.stored');
    return id;
  });
}

async function insert(trx: Db, ctx: Caller, { provider, offer, ...price }: RentableOffer, input: Input) {
  const row = await trx
    .insertInto('instance')
    .values({
      workspace_id: ctx.workspace.id,
      kind: 'rented',
      slug: input.slug,
      title: input.title,
      created_by: ctx.user.id,
      status: 'in queue',
      status_deadline: sql<Date>`now() + ${`${provider.traits.deadlineMs} milliseconds`}::interval`,
      provider: provider.name,
      offer: JSON.stringify(storedOffer(provider, offer)),
      host_username: provider.traits.hostUsername,
      price_per_hour: price.pricePerHour,
      stopped_price_per_hour: price.stoppedPricePerHour,
      next_at: sql<Date>`now()`,
    })
    .onConflict((conflict) => conflict.columns(['workspace_id', 'slug']).where('closed_at', 'is', null).doNothing())
    .returning('id')
    .executeTakeFirst();
  if (!row) throw slugTaken();
  return row.id;
}

const slugTaken = () => invalid(text('This Unique ID is taken'), 'slug');

/** Locks the key until the transaction ends, so that deleting it waits and then finds the new server. */
async function requireOwnKey(trx: Db, userId: number, sshKeyId: number): Promise<void> {
  const key = await trx
    .selectFrom('ssh_key')
    .select('id')
    .where(isId('id', sshKeyId))
    .where('user_id', '=', userId)
    .forKeyShare()
    .executeTakeFirst();
  if (!key) throw invalid(text('This SSH key cannot be found'), 'sshKeyId');
}

async function requireFreeSlug(trx: Db, workspaceId: number, slug: string): Promise<void> {
  const taken = await trx
    .selectFrom('instance')
    .select('id')
    .where('workspace_id', '=', workspaceId)
    .where('slug', '=', slug)
    .where('closed_at', 'is', null)
    .executeTakeFirst();
  if (taken) throw slugTaken();
}

function requirePrice({ pricePerHour }: RentableOffer, shown: string | undefined): void {
  if (shown === undefined) return;
  if (!/^\d{1,12}(\.\d{1,6})?$/.test(shown)) throw invalid(text('Price must be a number'), 'maxPricePerHour');
  if (pricePerHour > fromDecimal(shown)) {
    throw refused(text('The price has risen to {{price}} STAGI an hour. Look again before you rent.'), {
      price: toDecimal(pricePerHour),
    });
  }
}
