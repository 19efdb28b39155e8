import { crashPoint } from '@stagi/contract/crashPoints.ts';
import { sql } from 'kysely';
import { announce } from '../bus/bus.ts';
import type { Context } from '../context.ts';
import type { Db, StrayRow } from '../db/schema.ts';
import { type Machine, type Provider, ProviderError } from '../providers/provider.ts';

/** A machine is gone when two lists in a row do not show it: one list may be partial. */
const GONE_AFTER_MISSES = 2;
/** More machines of closed servers than this, due at once, are no leftovers: a wrong or a restored database is likelier. */
const ALARM = { count: 10, share: 0.01 };

/**
 * Compares each cloud's list of machines with the open servers. A stray is an orphaned machine, one that belongs to no
 * open server: one of a closed server is deleted after its quarantine, unless many are due at once; any other waits for an
 * operator's decision. Servers whose machine is missing are reconciled.
 */
export async function sweepClouds(ctx: Context): Promise<void> {
  for (const provider of ctx.providers.values()) {
    try {
      await sweepCloud(ctx, provider);
    } catch (error) {
      if (!(error instanceof ProviderError)) throw error;
      ctx.log.warn({ err: error, provider: provider.name }, 'a cloud could not be swept');
    }
  }
}

async function sweepCloud(ctx: Context, provider: Provider): Promise<void> {
  const machines = (await provider.list()).filter(({ state }) => state !== 'terminating');
  // Read after the list, so that every listed machine's server is stored already.
  const owners = await ownersOf(ctx.db, provider.name, machines);
  const strays = machines.flatMap((machine) => strayOf(ctx, machine, owners));
  for (const stray of strays) await recordStray(ctx, provider, stray);
  crashPoint('sweep.noted');
  await markGone(
    ctx.db,
    provider.name,
    strays.map(({ machine }) => machine.ref),
  );
  await deleteDue(ctx, provider, machines.length);
  await wakeMissingServers(
    ctx.db,
    provider.name,
    machines.map(({ ref }) => ref),
  );
}

interface Stray {
  machine: Machine;
  reason: StrayRow['reason'];
  instanceId: number | null;
}

type Owner = { id: number; provider_ref: string | null; isClosed: boolean };

/** Every server that a listed machine could belong to, by the cloud's ref or by the machine's tag. */
async function ownersOf(db: Db, provider: string, machines: readonly Machine[]): Promise<Owner[]> {
  const { rows } = await sql<Owner>`
    select id, provider_ref, closed_at is not null as "isClosed" from instance
    where kind = 'rented' and provider = ${provider}
      and ((closed_at is null and provider_ref = any(${machines.map(({ ref }) => ref)}::text[]))
        or id = any(${machines.map(taggedId).filter((id) => id !== null)}::int[]))`.execute(db);
  return rows;
}

function strayOf({ installationId }: Context, machine: Machine, owners: readonly Owner[]): Stray[] {
  if (owners.some((owner) => !owner.isClosed && owner.provider_ref === machine.ref)) return [];
  // The ids of another installation's servers say nothing here.
  const isForeign = Boolean(machine.tags.installation && machine.tags.installation !== installationId);
  const tagged = isForeign ? undefined : owners.find(({ id }) => id === taggedId(machine));
  if (!tagged) return [{ machine, reason: 'unknown', instanceId: null }];
  if (tagged.isClosed) return [{ machine, reason: 'closed', instanceId: tagged.id }];
  // Without a ref its start may be unanswered: then this is its machine, and the reconcile loop takes it over.
  return tagged.provider_ref === null ? [] : [{ machine, reason: 'second', instanceId: tagged.id }];
}

function taggedId({ tags }: Machine): number | null {
  const text = tags.resource ?? '';
  return /^[1-9]\d{0,8}$/.test(text) ? Number(text) : null;
}

async function recordStray(ctx: Context, provider: Provider, { machine, reason, instanceId }: Stray): Promise<void> {
  const { ref, name, tags, state, ip } = machine;
  const { rows } = await sql<{ id: number; isNew: boolean }>`
    insert into stray (provider, ref, name, tags, state, ip, reason, instance_id)
    values (${provider.name}, ${ref}, ${name}, ${JSON.stringify(tags)}, ${state}, ${ip}, ${reason}, ${instanceId})
    on conflict (provider, ref) where gone_at is null do update
      set state = excluded.state, ip = excluded.ip, reason = excluded.reason, instance_id = excluded.instance_id,
        last_seen_at = clock_timestamp(), missed = 0
    returning id, (xmax = 0) as "isNew"`.execute(ctx.db);
  if (rows[0]?.isNew)
    ctx.log.error({ provider: provider.name, ref, name, reason, instanceId }, 'found a stray machine');
}

/** For strays that were adopted, belong to a server again, or were deleted. */
async function markGone(db: Db, provider: string, shown: readonly string[]): Promise<void> {
  await sql`
    update stray set missed = missed + 1,
      gone_at = case when missed + 1 >= ${GONE_AFTER_MISSES}::int then clock_timestamp() end
    where provider = ${provider} and gone_at is null and not (ref = any(${[...shown]}::text[]))`.execute(db);
}

async function deleteDue(ctx: Context, provider: Provider, listed: number): Promise<void> {
  const { rows } = await sql<Pick<StrayRow, 'id' | 'ref' | 'instance_id' | 'decision'>>`
    select id, ref, instance_id, decision from stray
    where provider = ${provider.name} and gone_at is null and missed = 0 and (decision = 'delete' or (decision is null
      and reason = 'closed' and first_seen_at < now() - ${`${ctx.config.quarantineMs} milliseconds`}::interval))
    order by id`.execute(ctx.db);
  const due = rows.filter(({ decision }) => decision === null).length;
  const hasAlarm = due > ALARM.count && due > listed * ALARM.share;
  if (hasAlarm)
    ctx.log.error(
      { provider: provider.name, due, listed },
      'machines of closed servers are kept, as they are many: an operator deletes or adopts each at Administration, Strays',
    );
  for (const stray of rows) if (!hasAlarm || stray.decision === 'delete') await deleteStray(ctx, provider, stray);
}

/** Retried by each sweep for as long as the machine is listed: a cloud's "done" proves nothing. */
async function deleteStray(
  ctx: Context,
  provider: Provider,
  { id, ref, instance_id }: Pick<StrayRow, 'id' | 'ref' | 'instance_id'>,
): Promise<void> {
  let lastError: string | null = null;
  try {
    await provider.terminate(ref);
    crashPoint('sweep.deleted');
    ctx.log.error({ provider: provider.name, ref, instanceId: instance_id }, 'deleted a stray machine');
  } catch (error) {
    if (!(error instanceof ProviderError)) throw error;
    lastError = error.message;
    ctx.log.warn({ err: error, provider: provider.name, ref }, 'a stray machine could not be deleted');
  }
  await ctx.db
    .updateTable('stray')
    .set((eb) => ({ deletions: eb('deletions', '+', 1), last_error: lastError }))
    .where('id', '=', id)
    .execute();
}

/** Makes servers due whose machine is not listed; their own reconcile step confirms whether it is gone. */
async function wakeMissingServers(db: Db, provider: string, shown: readonly string[]): Promise<void> {
  const { numAffectedRows } = await sql`
    with missed as (
      select id from instance
      where kind = 'rented' and closed_at is null and provider = ${provider} and lock_expires_at is null
        and provider_ref is not null and not (provider_ref = any(${[...shown]}::text[]))
        and (next_at is null or next_at > now())
      order by id for no key update)
    update instance i set next_at = now() from missed where i.id = missed.id`.execute(db);
  if (numAffectedRows) await announce(db, 'due', { kind: 'instance' });
}
