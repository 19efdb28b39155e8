import { REASON_MAX } from '@stagi/contract/adminReason.ts';
import { onlyReads } from '@stagi/contract/audit.ts';
import { type Call, needsIdempotencyKey } from '@stagi/contract/call.ts';
import { type RawBuilder, sql } from 'kysely';
import { RateLimiterMemory, RateLimiterRes } from 'rate-limiter-flexible';
import type { Credential } from '../auth/authenticate.ts';
import type { Db } from '../db/schema.ts';
import { isOverload, isUnstorable, PublicError } from '../http/errors.ts';

export interface Actor {
  user: { id: number } | null;
  credential: Pick<Credential, 'kind' | 'id'> | null;
  /** `null`: an act of the platform's own operators. */
  workspace: { id: number } | null;
  ip: string | null;
  userAgent: string | null;
}

export interface Act {
  /** The path of the call. */
  action: string;
  outcome: 'done' | 'refused' | 'denied' | 'failed';
  object?: { type: string; id: string | null; label?: string | null };
  detail?: Record<string, unknown>;
  beforeHash?: Buffer | null;
  afterHash?: Buffer | null;
}

/** Writes an act into the log of its workspace; in the transaction of the act, as its last step: it locks the log's end. */
export async function recordAct(
  db: Db,
  { user, credential, workspace, ip, userAgent }: Actor,
  act: Act,
): Promise<void> {
  await sql`insert into audit (workspace_id, actor_id, credential, credential_id, ip, user_agent, action, outcome,
      object_type, object_id, object_label, detail, before_hash, after_hash)
    values (${workspace?.id ?? null}, ${user?.id ?? null}, ${credential?.kind ?? 'platform'},
      ${credential ? String(credential.id) : null}, ${ip}, ${userAgent?.slice(0, 300) ?? null}, ${act.action},
      ${act.outcome}, ${act.object?.type ?? null}, ${act.object?.id ?? null}, ${act.object?.label ?? null},
      ${JSON.stringify(act.detail ?? {})}, ${act.beforeHash ?? null}, ${act.afterHash ?? null})`.execute(db);
}

type Member = Actor & {
  config: object;
  user: { id: number };
  credential: Credential;
  workspace: { id: number };
  /** The app that acts for the user. */
  app: { id: string } | null;
};

/** Follows one call of a member that changes something. */
export interface Trail {
  /** Runs it and writes it down, both or neither. */
  done<T>(trx: Db, act: () => Promise<T>): Promise<T>;
  /** Writes down that it was not done. */
  notDone(db: Db, error: unknown): Promise<void>;
}

/** `null` for calls that only look. */
export function trailOf(call: Call, member: Member, input: unknown): Trail | null {
  if (onlyReads(call.path)) return null;
  const action = call.path;
  // What the platform's staff does is no affair of the workspace that they happen to be in.
  const actor: Actor = action.startsWith('admin/') ? { ...member, workspace: null } : member;
  const kind = Object.entries(KINDS).find(([prefix]) => action.startsWith(`${prefix}/`));
  const ref = kind ? refOf(call, kind[0], member, input) : null;
  const detail = { ...detailOf(input), ...(member.app && { app: member.app.id }) };
  return {
    async done(trx, act) {
      if (kind) await waitForOthers(trx, kind, member, ref);
      const before = kind && (await stateOf(trx, kind[1], member, ref));
      const answer = await act();
      const made = (answer as { entity?: { id?: unknown } } | null)?.entity?.id;
      const id = before?.id ?? (typeof made === 'number' ? String(made) : undefined);
      const after = kind && id !== undefined ? await stateOf(trx, kind[1], member, { id: Number(id) }) : undefined;
      await recordAct(trx, actor, {
        action,
        outcome: 'done',
        object: kind && { type: kind[0], id: id ?? null, label: after?.label ?? before?.label },
        detail,
        beforeHash: before?.hash,
        afterHash: after?.hash,
      });
      return answer;
    },
    async notDone(db, error) {
      const outcome = outcomeOf(error);
      if (!outcome || !(await mayTell(member))) return;
      const state = kind && (await stateOf(db, kind[1], member, ref));
      const id = state?.id ?? (ref && 'id' in ref ? String(ref.id) : null);
      await recordAct(db, actor, {
        action,
        outcome,
        object: kind && { type: kind[0], id, label: state?.label },
        detail: error instanceof PublicError ? { ...detail, message: error.body.message } : detail,
        beforeHash: state?.hash,
        afterHash: state?.hash,
      });
    },
  };
}

/** A slip in a form, a race or an outage is no act. */
function outcomeOf(error: unknown): Act['outcome'] | null {
  if (!(error instanceof PublicError)) return isOverload(error) || isUnstorable(error) ? null : 'failed';
  // Whoever is asked to show that it is them is about to do it.
  if (error.body.code === 'step-up') return null;
  if (error.status === 403) return 'denied';
  if (error.status === 200 || error.status === 404) return 'refused';
  return error.status === 500 ? 'failed' : null;
}

/** Nobody fills the log of a workspace by being refused without end. A process of tests runs several platforms. */
const refusals = new WeakMap<object, RateLimiterMemory>();

async function mayTell({ config, user, workspace }: Member): Promise<boolean> {
  const ofPlatform = refusals.get(config) ?? new RateLimiterMemory({ points: 60, duration: 60 });
  refusals.set(config, ofPlatform);
  try {
    await ofPlatform.consume(`${user.id}|${workspace.id}`);
    return true;
  } catch (refusal) {
    if (refusal instanceof RateLimiterRes) return false;
    throw refusal;
  }
}

interface Kind {
  from: RawBuilder<unknown>;
  label: string;
  /** Whose it must be: its label and its hash are nobody else's business. */
  mine: (member: Member) => RawBuilder<unknown>;
}

const ofWorkspace = (member: Member) => sql`t.workspace_id = ${member.workspace.id}`;

/** The things that calls are about, by how their paths begin. */
const KINDS: Record<string, Kind> = {
  'instance-rented': { from: sql.table('instance'), label: 'slug', mine: ofWorkspace },
  'self-hosted-instance': { from: sql.table('instance'), label: 'slug', mine: ofWorkspace },
  'docker-container': { from: sql.table('container'), label: 'slug', mine: ofWorkspace },
  'api-token': { from: sql.table('api_token'), label: 'description', mine: ofWorkspace },
  'ssh-key': { from: sql.table('ssh_key'), label: 'title', mine: ({ user }) => sql`t.user_id = ${user.id}` },
  'admin/user': { from: sql.table('app_user'), label: 'name', mine: () => sql`true` },
  'admin/client': { from: sql.table('workspace'), label: 'name', mine: () => sql`true` },
  'admin/promo-code': { from: sql.table('promo_code'), label: 'code', mine: () => sql`true` },
  'admin/stray': { from: sql.table('stray'), label: 'name', mine: () => sql`true` },
  'client/member': {
    from: sql`(select u.id, u.name, m.role, m.workspace_id from membership m join app_user u on u.id = m.user_id)`,
    label: 'name',
    mine: ofWorkspace,
  },
  'client/invite': { from: sql.table('invite'), label: 'role', mine: ofWorkspace },
  client: { from: sql.table('workspace'), label: 'name', mine: ({ workspace }) => sql`t.id = ${workspace.id}` },
};

type Reference = { id: number } | { slug: string };

/** What the call names. What it makes is known by its answer. */
function refOf(call: Call, kind: string, { workspace }: Member, input: unknown): Reference | null {
  if (kind === 'client') return { id: workspace.id };
  const { id, slug, userId } = (input ?? {}) as { id?: unknown; slug?: unknown; userId?: unknown };
  if (kind === 'client/member') return typeof userId === 'number' ? { id: userId } : null;
  if (typeof id === 'number') return { id };
  const isSlug = typeof slug === 'string' && KINDS[kind]?.label === 'slug' && !needsIdempotencyKey(call.path);
  return isSlug ? { slug } : null;
}

/**
 * Acts upon one thing come one after the other, so that each begins with what the one before it left. Before any row is
 * locked, and for one thing alone: nobody waits in a circle.
 */
async function waitForOthers(trx: Db, [name, kind]: [string, Kind], member: Member, ref: Reference | null) {
  if (!ref) return;
  const ofWhom = kind.mine === ofWorkspace ? member.workspace.id : 0;
  await sql`select pg_advisory_xact_lock(hashtextextended(${`audit|${name}|`} || meant.id, ${ofWhom}))
    from (select t.id from ${meant(kind, member, ref)}) meant`.execute(trx);
}

async function stateOf(db: Db, kind: Kind, member: Member, ref: Reference | null) {
  if (!ref) return undefined;
  const { rows } = await sql<{ id: string; label: string | null; hash: Buffer }>`
    select t.id::text, ${sql.ref(`t.${kind.label}`)} as label, sha256(convert_to(to_jsonb(t)::text, 'UTF8')) as hash
    from ${meant(kind, member, ref)}`.execute(db);
  return rows[0];
}

/** The row that is meant; of several that had the same word, the newest. */
const meant = (kind: Kind, member: Member, ref: Reference) => sql`${kind.from} t
    where ${'id' in ref ? sql`t.id = ${ref.id}::bigint` : sql`t.slug = ${ref.slug}`} and ${kind.mine(member)}
    order by t.id desc limit 1`;

/** What of an input may be read in the log for ever: names and choices, nothing that could be a secret. */
const TOLD = new Set([
  'title',
  'newTitle',
  'newName',
  'role',
  'roleName',
  'permissions',
  'expiresAt',
  'amount',
  'uses',
  'dockerImage',
  'count',
  'offerId',
  'sshKeyId',
  'workspaceId',
  'description',
  'plan',
  'sizeGb',
  'location',
  'reason',
  'terminate',
]);
/** As long as the reason that an operator may give, which stands whole in the log. */
const TOLD_CHARACTERS = REASON_MAX;
const TOLD_ITEMS = 20;

function detailOf(input: unknown): Record<string, unknown> {
  if (typeof input !== 'object' || input === null || Array.isArray(input)) return {};
  return Object.fromEntries(
    Object.entries(input).flatMap(([name, value]): [string, unknown][] => {
      const told = TOLD.has(name) ? plain(value) : undefined;
      return told === undefined ? [] : [[name, told]];
    }),
  );
}

/** As the log can hold it: no NUL, no half of a surrogate pair. */
function plain(value: unknown): unknown {
  if (typeof value === 'string') return shortened(value).replaceAll('\u0000', '').toWellFormed();
  if (typeof value === 'number' || typeof value === 'boolean') return value;
  return Array.isArray(value) ? value.slice(0, TOLD_ITEMS).map((one) => plain(one) ?? null) : undefined;
}

function shortened(text: string): string {
  return text.length > TOLD_CHARACTERS ? `${text.slice(0, TOLD_CHARACTERS - 1)}…` : text;
}
