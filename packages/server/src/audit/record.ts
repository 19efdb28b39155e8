import { REASON_MAX } from '@stagi/contract/adminReason.ts';
import { isReadOnly } from '@stagi/contract/audit.ts';
import { type Call, needsIdempotencyKey } from '@stagi/contract/call.ts';
import { type Entity, entityOf } from '@stagi/contract/entities.ts';
import { type RawBuilder, sql } from 'kysely';
import { RateLimiterMemory, RateLimiterRes } from 'rate-limiter-flexible';
import type { Config } from '../config/config.ts';
import type { Db } from '../db/schema.ts';
import { isOverload, isUnstorableValue, PublicError } from '../http/errors.ts';
import type { Credential } from '../sessions/authenticate.ts';

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

/** Appends an entry to the audit log. Call it last in the act's transaction: it locks the end of the log. */
export async function recordAct(
  db: Db,
  { user, credential, workspace, ip, userAgent }: Actor,
  act: Act,
): Promise<void> {
  await sql`insert into audit (workspace_id, actor_id, credential, credential_id, ip, user_agent, action, outcome,
      object_type, object_id, object_label, detail, before_hash, after_hash)
    values (${workspace?.id ?? null}, ${user?.id ?? null}, ${credential?.kind ?? 'platform'},
      ${credential ? String(credential.id) : null}, ${ip}, ${userAgent}, ${act.action},
      ${act.outcome}, ${act.object?.type ?? null}, ${act.object?.id ?? null}, ${act.object?.label ?? null},
      ${JSON.stringify(act.detail ?? {})}, ${act.beforeHash ?? null}, ${act.afterHash ?? null})`.execute(db);
}

type Member = Actor & {
  config: Pick<Config, 'apps'>;
  user: { id: number };
  credential: Credential;
  workspace: { id: number };
  /** The app that acts for the user. */
  app: { id: string } | null;
};

/** Records one call that changes something. */
export interface CallRecorder {
  /** Runs the call and records it, in one transaction. */
  done<T>(trx: Db, act: () => Promise<T>): Promise<T>;
  /** Records that it was refused, denied or failed. */
  notDone(db: Db, error: unknown): Promise<void>;
}

/** `null` for calls that only read. */
export function recorderOf(call: Call, member: Member, input: unknown): CallRecorder | null {
  if (isReadOnly(call.path)) return null;
  const action = call.path;
  // An operator's act does not belong in the log of the workspace that they have chosen.
  const actor: Actor = action.startsWith('admin/') ? { ...member, workspace: null } : member;
  const entity = entityOf(action);
  const kind: [Entity, Kind] | undefined = entity ? [entity, KINDS[entity]] : undefined;
  const ref = kind ? refOf(call, kind[0], member, input) : null;
  const detail: Record<string, unknown> = { ...detailOf(input), ...(member.app && { app: member.app.id }) };
  return {
    async done(trx, act) {
      if (kind) await lockObject(trx, kind, member, ref);
      // Before the act, which may delete what is named.
      const names = await namesOf(trx, member, action, detail);
      const before = kind && (await stateOf(trx, kind[1], member, ref));
      const answer = await act();
      const made = (answer as { entity?: { id?: unknown } } | null)?.entity?.id;
      const known = before?.id ?? (typeof made === 'number' ? String(made) : undefined);
      const after = kind && (await stateOf(trx, kind[1], member, known === undefined ? ref : { id: Number(known) }));
      const id = known ?? after?.id;
      await recordAct(trx, actor, {
        action,
        outcome: 'done',
        object: kind && { type: after?.type ?? kind[0], id: id ?? null, label: after?.label ?? before?.label },
        detail: { ...detail, ...names },
        beforeHash: before?.hash,
        afterHash: after?.hash,
      });
      return answer;
    },
    async notDone(db, error) {
      const outcome = outcomeOf(error);
      if (!outcome || !(await isWithinRefusalLimit(member))) return;
      const state = kind && (await stateOf(db, kind[1], member, ref));
      const id = state?.id ?? (ref && 'id' in ref ? String(ref.id) : null);
      const named = { ...detail, ...(await namesOf(db, member, action, detail)) };
      await recordAct(db, actor, {
        action,
        outcome,
        object: kind && { type: state?.type ?? kind[0], id, label: state?.label },
        detail: error instanceof PublicError ? { ...named, message: error.body.message } : named,
        beforeHash: state?.hash,
        afterHash: state?.hash,
      });
    },
  };
}

/** `null` where nothing is recorded: invalid input, a lost race, an outage. */
function outcomeOf(error: unknown): Act['outcome'] | null {
  if (!(error instanceof PublicError)) return isOverload(error) || isUnstorableValue(error) ? null : 'failed';
  // The call will be retried after the step-up.
  if (error.body.code === 'step-up') return null;
  if (error.status === 403) return 'denied';
  if (error.status === 200 || error.status === 404) return 'refused';
  return error.status === 500 ? 'failed' : null;
}

/** Rate limit of recorded refusals, so that they cannot fill the log. Per platform, as tests run several in a process. */
const refusals = new WeakMap<object, RateLimiterMemory>();

export async function isWithinRefusalLimit({
  config,
  user,
  workspace,
}: Pick<Member, 'config' | 'user' | 'workspace'>): Promise<boolean> {
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
  /** What the log calls the thing, where that is not the kind of the call. */
  type?: RawBuilder<string>;
  /** The rows that the caller may name: label and hash of others' rows must not get into the log. */
  mine: (member: Member) => RawBuilder<unknown>;
}

const ofWorkspace = (member: Member) => sql`t.workspace_id = ${member.workspace.id}`;

/** Where the things lie that calls are about. */
const KINDS: Record<Entity, Kind> = {
  'instance-rented': { from: sql.table('instance'), label: 'slug', mine: ofWorkspace },
  'self-hosted-instance': { from: sql.table('instance'), label: 'slug', mine: ofWorkspace },
  'docker-container': { from: sql.table('container'), label: 'slug', mine: ofWorkspace },
  'docker-container/template': { from: sql.table('container_template'), label: 'title', mine: ofWorkspace },
  'docker-container/registry': { from: sql.table('registry_credential'), label: 'host', mine: ofWorkspace },
  // Images have no rows: the acts are about their server.
  'docker-container/image': {
    from: sql.table('instance'),
    label: 'slug',
    type: sql<string>`case t.kind when 'rented' then 'instance-rented' else 'self-hosted-instance' end`,
    mine: ofWorkspace,
  },
  model: { from: sql.table('model_endpoint'), label: 'title', mine: ofWorkspace },
  storage: { from: sql.table('storage'), label: 'slug', mine: ofWorkspace },
  project: { from: sql.table('project'), label: 'slug', mine: ofWorkspace },
  task: { from: sql.table('task'), label: 'slug', mine: ofWorkspace },
  'task/schedule': { from: sql.table('task_schedule'), label: 'title', mine: ofWorkspace },
  'api-token': { from: sql.table('api_token'), label: 'description', mine: ofWorkspace },
  'ssh-key': { from: sql.table('ssh_key'), label: 'title', mine: ({ user }) => sql`t.user_id = ${user.id}` },
  'admin/user': { from: sql.table('app_user'), label: 'name', mine: () => sql`true` },
  'admin/client': { from: sql.table('workspace'), label: 'name', mine: () => sql`true` },
  'admin/promo-code': { from: sql.table('promo_code'), label: 'code', mine: () => sql`true` },
  'admin/sign-up-link': { from: sql.table('sign_up_link'), label: 'note', mine: () => sql`true` },
  'admin/stray': { from: sql.table('stray'), label: 'name', mine: () => sql`true` },
  // Not the name: entries outlive the requests.
  'admin/contact': { from: sql.table('contact_request'), label: 'topic', mine: () => sql`true` },
  // Named by the model: an entry that was never changed has no row.
  'admin/model': {
    from: sql`(select id, model_id as slug, kind, fields, source, note from catalogue_change)`,
    label: 'slug',
    mine: () => sql`true`,
  },
  'client/member': {
    from: sql`(select u.id, u.name, m.role, m.workspace_id from membership m join app_user u on u.id = m.user_id)`,
    label: 'name',
    mine: ofWorkspace,
  },
  'client/invite': { from: sql.table('invite'), label: 'role', mine: ofWorkspace },
  client: { from: sql.table('workspace'), label: 'name', mine: ({ workspace }) => sql`t.id = ${workspace.id}` },
};

type Reference = { id: number } | { slug: string };

/** The object that the input names. One that the call creates is known from its answer. */
function refOf(call: Call, kind: Entity, { workspace }: Member, input: unknown): Reference | null {
  if (kind === 'client') return { id: workspace.id };
  const named = (input ?? {}) as Record<string, unknown>;
  const owner = kind === 'project' ? named.projectRef : kind === 'docker-container/image' ? named.instanceRef : null;
  const { id, slug, userId } = owner ? (owner as Record<string, unknown>) : named;
  if (kind === 'client/member') return typeof userId === 'number' ? { id: userId } : null;
  if (typeof id === 'number') return { id };
  if (kind === 'admin/model') return typeof named.modelId === 'string' ? { slug: named.modelId } : null;
  const isSlug = typeof slug === 'string' && KINDS[kind].label === 'slug' && !needsIdempotencyKey(call.path);
  return isSlug ? { slug } : null;
}

/**
 * Serializes calls on one object, so that the state before each is the state after the one before it. Taken before any
 * row lock and for one object only, so that it cannot deadlock.
 */
async function lockObject(trx: Db, [name, kind]: [Entity, Kind], member: Member, ref: Reference | null) {
  if (!ref) return;
  const ofWhom = kind.mine === ofWorkspace ? member.workspace.id : 0;
  await sql`select pg_advisory_xact_lock(hashtextextended(${`audit|${name}|`} || meant.id, ${ofWhom}))
    from (select t.id from ${referencedRow(kind, member, ref)}) meant`.execute(trx);
}

async function stateOf(db: Db, kind: Kind, member: Member, ref: Reference | null) {
  if (!ref) return undefined;
  const { rows } = await sql<{ id: string; type: string | null; label: string | null; hash: Buffer }>`
    select t.id::text, ${kind.type ?? sql`null`} as type, ${sql.ref(`t.${kind.label}`)} as label, sha256(convert_to(to_jsonb(t)::text, 'UTF8')) as hash
    from ${referencedRow(kind, member, ref)}`.execute(db);
  return rows[0];
}

/** The row that is referred to; of several with the same Unique ID, the newest. */
const referencedRow = (kind: Kind, member: Member, ref: Reference) => sql`${kind.from} t
    where ${'id' in ref ? sql`t.id = ${ref.id}::bigint` : sql`t.slug = ${ref.slug}`} and ${kind.mine(member)}
    order by t.id desc limit 1`;

/**
 * The names of what the detail names by id, as they are now: they stay when it is deleted. Only of what the caller may
 * see: a name of somebody else's must not get into the log by a guessed id.
 */
async function namesOf(
  db: Db,
  member: Member,
  action: string,
  { sshKeyId, workspaceId, app }: Record<string, unknown>,
): Promise<{ names?: Record<string, string> }> {
  const names: Record<string, string> = {};
  if (typeof app === 'string') names.app = member.config.apps.get(app)?.name ?? app;
  if (typeof sshKeyId === 'number') {
    const { rows } = await sql<{ title: string }>`select k.title from ssh_key k where k.id = ${sshKeyId}::bigint
      and (k.user_id = ${member.user.id} or exists (select 1 from instance_ssh_key a join instance i on i.id = a.instance_id
        where a.ssh_key_id = k.id and i.workspace_id = ${member.workspace.id}))`.execute(db);
    if (rows[0]) names.sshKeyId = rows[0].title;
  }
  if (typeof workspaceId === 'number' && action.startsWith('admin/')) {
    const { rows } = await sql<{ name: string }>`select name from workspace where id = ${workspaceId}::bigint`.execute(
      db,
    );
    if (rows[0]) names.workspaceId = rows[0].name;
  }
  return Object.keys(names).length > 0 ? { names } : {};
}

/** The fields of an input that are recorded: names and choices, never secrets. */
const RECORDED_FIELDS = new Set([
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
  'quotas',
  'sizeGb',
  'location',
  'key',
  'expiresInHours',
  'reason',
  'terminate',
  'keepKeys',
  'url',
  'defaultBranch',
  'reference',
  'host',
  'dryRun',
  'allowForcedPush',
  'volume',
  'path',
  'newPath',
  'handled',
  'modelId',
  'reset',
]);
/** The longest reason that an operator may give is recorded in full. */
const MAX_CHARACTERS = REASON_MAX;
const MAX_ITEMS = 20;

function detailOf(input: unknown): Record<string, unknown> {
  if (typeof input !== 'object' || input === null || Array.isArray(input)) return {};
  return Object.fromEntries(
    Object.entries(input).flatMap(([name, value]): [string, unknown][] => {
      const told = RECORDED_FIELDS.has(name) ? plain(value) : undefined;
      return told === undefined ? [] : [[name, told]];
    }),
  );
}

/** As the database can store it: no NUL, no half of a surrogate pair. */
function plain(value: unknown): unknown {
  if (typeof value === 'string') return shortened(value).replaceAll('\u0000', '').toWellFormed();
  if (typeof value === 'number' || typeof value === 'boolean') return value;
  if (isFigures(value)) return value;
  return Array.isArray(value) ? value.slice(0, MAX_ITEMS).map((one) => plain(one) ?? null) : undefined;
}

/** By name, as quotas are: nothing that could be a secret. */
const isFigures = (value: unknown): boolean =>
  typeof value === 'object' &&
  value !== null &&
  !Array.isArray(value) &&
  Object.values(value).every((one) => typeof one === 'number' || one === null);

function shortened(text: string): string {
  return text.length > MAX_CHARACTERS ? `${text.slice(0, MAX_CHARACTERS - 1)}…` : text;
}
