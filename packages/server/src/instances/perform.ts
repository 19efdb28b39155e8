import { randomUUID } from 'node:crypto';
import { crashPoint } from '@stagi/contract/crashPoints.ts';
import type { Context } from '../context.ts';
import { bootScript, issueEnrolment } from '../daemon-link/enrolment.ts';
import { inTransaction } from '../db/pool.ts';
import type { Db } from '../db/schema.ts';
import { type Provider, ProviderError } from '../providers/provider.ts';
import { apply, endOp, type OpEnd } from './apply.ts';
import { failed, stillOff } from './decide.ts';
import type { Settlement } from './decision.ts';
import { backOff, type Lease, letGo } from './lease.ts';
import { WATCH_MS } from './pace.ts';
import { refOf } from './terminate.ts';
import { type Effect, machineName, type Op, type World } from './world.ts';

/** One effect on the cloud: the intent is stored, the call made, its end written down. */
export async function perform(
  ctx: Context,
  provider: Provider,
  lease: Lease,
  world: World,
  effect: Effect,
): Promise<void> {
  const before = world.ops[effect];
  const op = await storeIntent(ctx, provider, lease, world, effect);
  if (!op) return letGo(ctx.db, lease, 0);
  crashPoint(`${effect}.intentStored`);
  let ref: string | undefined;
  try {
    ref = await call(ctx, provider, world, effect, op);
  } catch (error) {
    if (!(error instanceof ProviderError)) throw error;
    ctx.log.warn({ err: error, instanceId: lease.id, effect, kind: error.kind }, 'a cloud refused');
    return refusedBy(ctx, lease, world, effect, op, error, before?.id !== op.id);
  }
  crashPoint(`${effect}.called`);
  const end: OpEnd = { id: op.id, state: 'done', ref };
  if (!(await apply(ctx, lease, world, succeeded(world, effect, ref), end))) await movedOn(ctx, provider, lease, end);
  crashPoint(`${effect}.applied`);
}

/**
 * An intent that was left open is taken up again with its own id and parameters, so that a cloud knows the
 * repetition. `null` when the instance moved on.
 */
async function storeIntent(
  ctx: Context,
  provider: Provider,
  lease: Lease,
  { row, ops }: World,
  effect: Effect,
): Promise<Op | null> {
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

/** The same at each repetition: a machine that came of the first call must be able to join. */
async function startParams(ctx: Context, provider: Provider, trx: Db, instanceId: number, opId: string) {
  if (provider.traits.readiness === 'provider') return {};
  const { token } = await issueEnrolment(ctx, trx, instanceId, 'rented');
  return { userData: ctx.secrets.seal(await bootScript(ctx, token), placeOf(opId)) };
}

const placeOf = (opId: string): string => `provider_op|params|${opId}`;

async function call(
  ctx: Context,
  provider: Provider,
  world: World,
  effect: Effect,
  op: Op,
): Promise<string | undefined> {
  const { row } = world;
  if (effect === 'start') {
    const { environment } = ctx.config;
    const sealed = op.params.userData;
    const { ref } = await provider.start({
      token: op.id,
      name: machineName(environment, row),
      offerId: row.offer?.id ?? '',
      tags: { env: environment, resource: String(row.id), op: op.id },
      userData: typeof sealed === 'string' ? ctx.secrets.open(sealed, placeOf(op.id)) : '',
    });
    return ref;
  }
  const ref = refOf(world);
  if (!ref) throw new Error(`no machine of instance ${row.id} is known to ${effect}`);
  const run = provider[effect]?.bind(provider);
  if (!run) throw new ProviderError('permanent', `${provider.title} cannot ${effect} a server`);
  await run(ref);
  return undefined;
}

function succeeded({ row }: World, effect: Effect, ref: string | undefined): Settlement {
  switch (effect) {
    case 'start':
      return { to: 'creating', set: { provider_ref: ref }, reached: ['capacity'], againMs: 0 };
    case 'reboot':
      return { set: { reboot_done: row.reboot_wanted }, againMs: 0 };
    case 'stop':
    case 'resume':
    case 'terminate':
      return { againMs: 0 };
    default:
      throw new Error(`unknown effect ${effect satisfies never}`);
  }
}

/** What an error of the cloud means: for some it is over, for most it is tried again. */
async function refusedBy(
  ctx: Context,
  lease: Lease,
  world: World,
  effect: Effect,
  op: Op,
  error: ProviderError,
  isFirstTry: boolean,
): Promise<void> {
  const settlement = verdict(world, effect, error);
  if (!settlement) return backOff(ctx.db, lease, error.message, op.id);
  // After an unanswered try, a refusal of the next does not prove that the first had no effect.
  const end: OpEnd | undefined = isFirstTry ? { id: op.id, state: 'failed', error: error.message } : undefined;
  if (!(await apply(ctx, lease, world, settlement, end))) await letGo(ctx.db, lease, 0);
}

function verdict(world: World, effect: Effect, { kind, message }: ProviderError): Settlement | null {
  if (kind === 'retryable' || kind === 'unknown' || effect === 'terminate') return null;
  if (effect === 'start') return failed(world, kind === 'noCapacity' ? SOLD_OUT : message);
  if (kind === 'noCapacity') return effect === 'resume' ? stillOff(world, SOLD_OUT) : null;
  return world.row.status === 'stopped' ? null : { to: 'error', reason: message, againMs: WATCH_MS };
}

const SOLD_OUT = 'The cloud has no such server left at the moment';

/** The instance was wished otherwise while the cloud was busy. What was started for nothing is not left alone. */
async function movedOn(ctx: Context, provider: Provider, lease: Lease, end: OpEnd): Promise<void> {
  const isFirst = await endOp(ctx.db, end);
  const row = await ctx.db
    .selectFrom('instance')
    .select(['closed_at', 'desired', 'provider_ref'])
    .where('id', '=', lease.id)
    .executeTakeFirst();
  const isForgotten = row?.closed_at != null || (!isFirst && row?.desired === 'gone' && row.provider_ref === null);
  if (end.ref && isForgotten) {
    ctx.log.warn({ instanceId: lease.id, ref: end.ref }, 'removes a machine that was started too late');
    await provider.terminate(end.ref);
  }
  await letGo(ctx.db, lease, 0);
}
