import { randomUUID } from 'node:crypto';
import { crashPoint } from '@stagi/contract/crashPoints.ts';
import { text } from '@stagi/contract/text.ts';
import type { Context } from '../context.ts';
import { inTransaction } from '../db/pool.ts';
import type { Db } from '../db/schema.ts';
import { bootScript, issueEnrolment } from '../nodes/enrolment.ts';
import { type Provider, ProviderError } from '../providers/provider.ts';
import { type Lease, releaseLease, retryLater } from '../reconcile/lease.ts';
import { applyTransition, finishOp, type OpResult } from './applyTransition.ts';
import { failCreation, stayStopped } from './decide.ts';
import type { Transition } from './decision.ts';
import { type Effect, type InstanceSnapshot, machineName, type ProviderOp } from './snapshot.ts';
import { machineRef } from './terminate.ts';
import { STEADY_POLL_MS } from './timing.ts';

/** One effect on the cloud: stores the intent, makes the call, stores the result. */
export async function performEffect(
  ctx: Context,
  provider: Provider,
  lease: Lease,
  snapshot: InstanceSnapshot,
  effect: Effect,
): Promise<void> {
  const before = snapshot.ops[effect];
  const op = await storeIntent(ctx, provider, lease, snapshot, effect);
  if (!op) return releaseLease(ctx.db, 'instance', lease, 0);
  crashPoint(`${effect}.intentStored`);
  let ref: string | undefined;
  try {
    ref = await callProvider(ctx, provider, snapshot, effect, op);
  } catch (error) {
    if (!(error instanceof ProviderError)) throw error;
    ctx.log.warn({ err: error, instanceId: lease.id, effect, kind: error.kind }, 'a cloud refused');
    return handleProviderError(ctx, lease, snapshot, effect, op, error, before?.id !== op.id);
  }
  crashPoint(`${effect}.called`);
  const end: OpResult = { id: op.id, state: 'done', ref };
  if (!(await applyTransition(ctx, lease, snapshot, transitionAfterSuccess(snapshot, effect, ref), end)))
    await handleStaleResult(ctx, provider, lease, end);
  crashPoint(`${effect}.applied`);
}

/**
 * Stores the intent, or returns the one left open by an earlier attempt: its id is the idempotency key by which the cloud
 * recognises a retry. `null` when the lease or the generation is out of date.
 */
async function storeIntent(
  ctx: Context,
  provider: Provider,
  lease: Lease,
  { row, ops }: InstanceSnapshot,
  effect: Effect,
): Promise<ProviderOp | null> {
  return inTransaction(ctx.db, async (trx) => {
    const held = await trx
      .selectFrom('instance')
      .select('id')
      .where('id', '=', lease.id)
      .where('lock_token', '=', lease.token)
      .where('gen', '=', row.gen)
      .forNoKeyUpdate()
      .executeTakeFirst();
    if (!held) return null;
    const open = ops[effect];
    if (open?.state === 'intent' && (effect === 'start' || open.gen === row.gen)) return open;
    const id = randomUUID();
    const params = effect === 'start' ? await startParams(ctx, provider, trx, row.id, id) : {};
    return trx
      .insertInto('provider_op')
      .values({ id, instance_id: row.id, kind: effect, gen: row.gen, params: JSON.stringify(params) })
      .returningAll()
      .executeTakeFirstOrThrow();
  });
}

/** Sealed and reused by retries, so that a machine created by an unanswered first call can still enrol. */
async function startParams(ctx: Context, provider: Provider, trx: Db, instanceId: number, opId: string) {
  if (provider.traits.readiness === 'provider') return {};
  const { token } = await issueEnrolment(ctx, trx, instanceId, 'rented');
  return { userData: ctx.secrets.seal(await bootScript(ctx, token), sealContext(opId)) };
}

const sealContext = (opId: string): string => `provider_op|params|${opId}`;

async function callProvider(
  ctx: Context,
  provider: Provider,
  snapshot: InstanceSnapshot,
  effect: Effect,
  op: ProviderOp,
): Promise<string | undefined> {
  const { row } = snapshot;
  if (effect === 'start') {
    const { environment } = ctx.config;
    const sealed = op.params.userData;
    const { ref } = await provider.start({
      token: op.id,
      name: machineName(environment, row),
      offerId: row.offer?.id ?? '',
      tags: { env: environment, resource: String(row.id), op: op.id, installation: ctx.installationId },
      userData: typeof sealed === 'string' ? ctx.secrets.open(sealed, sealContext(op.id)) : '',
    });
    return ref;
  }
  const ref = machineRef(snapshot);
  if (!ref) throw new Error(`no machine of instance ${row.id} is known to ${effect}`);
  const run = provider[effect]?.bind(provider);
  if (!run) throw new ProviderError('permanent', `${provider.title} cannot ${effect} a server`);
  await run(ref);
  return undefined;
}

function transitionAfterSuccess({ row }: InstanceSnapshot, effect: Effect, ref: string | undefined): Transition {
  switch (effect) {
    case 'start':
      return { to: 'creating', set: { provider_ref: ref }, reached: ['capacity'], requeueAfterMs: 0 };
    case 'reboot':
      return { set: { reboot_done: row.reboot_wanted }, requeueAfterMs: 0 };
    case 'stop':
    case 'resume':
    case 'terminate':
      return { requeueAfterMs: 0 };
    default:
      throw new Error(`unknown effect ${effect satisfies never}`);
  }
}

/** A few errors end the transition; all others are retried with backoff. */
async function handleProviderError(
  ctx: Context,
  lease: Lease,
  snapshot: InstanceSnapshot,
  effect: Effect,
  op: ProviderOp,
  error: ProviderError,
  isFirstTry: boolean,
): Promise<void> {
  const transition = transitionAfterError(snapshot, effect, error);
  if (!transition)
    return retryLater(ctx.db, 'instance', lease, error.message, (trx) =>
      trx.updateTable('provider_op').set({ error: error.message }).where('id', '=', op.id).execute(),
    );
  // If an earlier attempt got no answer, this error does not prove that it had no effect.
  const end: OpResult | undefined = isFirstTry ? { id: op.id, state: 'failed', error: error.message } : undefined;
  if (!(await applyTransition(ctx, lease, snapshot, transition, end))) await releaseLease(ctx.db, 'instance', lease, 0);
}

function transitionAfterError(
  snapshot: InstanceSnapshot,
  effect: Effect,
  { kind, message }: ProviderError,
): Transition | null {
  if (kind === 'retryable' || kind === 'unknown' || effect === 'terminate') return null;
  if (effect === 'start') return failCreation(snapshot, kind === 'noCapacity' ? SOLD_OUT : message);
  if (kind === 'noCapacity') return effect === 'resume' ? stayStopped(snapshot, SOLD_OUT) : null;
  return snapshot.row.status === 'stopped' ? null : { to: 'error', reason: message, requeueAfterMs: STEADY_POLL_MS };
}

const SOLD_OUT = text('The cloud has no such server left at the moment');

/** The lease was lost or the desired state changed during the call. A machine started for a closed instance is an orphan and is terminated. */
async function handleStaleResult(ctx: Context, provider: Provider, lease: Lease, end: OpResult): Promise<void> {
  const endedHere = await finishOp(ctx.db, end);
  const row = await ctx.db
    .selectFrom('instance')
    .select(['closed_at', 'desired', 'provider_ref'])
    .where('id', '=', lease.id)
    .executeTakeFirst();
  const isOrphan = row?.closed_at != null || (!endedHere && row?.desired === 'gone' && row.provider_ref === null);
  if (end.ref && isOrphan) {
    ctx.log.warn({ instanceId: lease.id, ref: end.ref }, 'removes a machine that was started too late');
    await provider.terminate(end.ref);
  }
  await releaseLease(ctx.db, 'instance', lease, 0);
}
