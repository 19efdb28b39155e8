import type { InstanceSshKey } from '@stagi/contract/instances.ts';
import type { EntityFilterRequest } from '@stagi/contract/page.ts';
import { rolesWith } from '@stagi/contract/permissions.ts';
import { keyFileName } from '@stagi/contract/sshKeys.ts';
import { text } from '@stagi/contract/text.ts';
import { sql } from 'kysely';
import { announce, announceAll } from '../bus/bus.ts';
import type { Db } from '../db/schema.ts';
import { invalid, notFound, refused } from '../http/errors.ts';
import { contains, isId, offsetOf, sortColumn } from '../http/paging.ts';
import { recordActivity } from './activity.ts';
import { lockInstance } from './find.ts';
import { announceInstance, changedEvent } from './status.ts';

const ROLES_WITH_SERVERS = rolesWith('INSTANCE_RENTED_MANAGEMENT');

interface Caller {
  db: Db;
  user: { id: number };
  workspace: { id: number };
}

/** The managed lines of a server's authorized_keys; `null` for a self-hosted server, whose owner manages its keys. */
export async function authorizedKeys(db: Db, instanceId: number): Promise<string[] | null> {
  return (await authorizedKeysByServer(db, [instanceId])).get(instanceId) ?? null;
}

/**
 * The managed lines of root's authorized_keys, by rented server. Keys of people who left the workspace or may no longer
 * manage its servers are left out, and all where they or the workspace are disabled.
 */
export async function authorizedKeysByServer(db: Db, instanceIds: readonly number[]): Promise<Map<number, string[]>> {
  const servers = sql<number>`any(${[...instanceIds]}::int[])`;
  const managed = await db
    .selectFrom('instance')
    .select('id')
    .where('id', '=', servers)
    .where('kind', '=', 'rented')
    .execute();
  const lines = new Map<number, string[]>(managed.map(({ id }) => [id, []]));
  const keys = await db
    .selectFrom('instance_ssh_key')
    .innerJoin('instance', 'instance.id', 'instance_ssh_key.instance_id')
    .innerJoin('ssh_key', 'ssh_key.id', 'instance_ssh_key.ssh_key_id')
    .innerJoin('app_user', 'app_user.id', 'ssh_key.user_id')
    .innerJoin('workspace', 'workspace.id', 'instance.workspace_id')
    .innerJoin('membership', (join) =>
      join
        .onRef('membership.user_id', '=', 'ssh_key.user_id')
        .onRef('membership.workspace_id', '=', 'instance.workspace_id'),
    )
    .select(['instance_ssh_key.instance_id', 'ssh_key.id', 'ssh_key.public_key'])
    .where('instance_ssh_key.instance_id', '=', servers)
    .where('app_user.disabled_at', 'is', null)
    .where('workspace.disabled_at', 'is', null)
    .where('membership.role', 'in', ROLES_WITH_SERVERS)
    .orderBy('ssh_key.id')
    .execute();
  for (const key of keys) lines.get(key.instance_id)?.push(authorizedLine(key));
  return lines;
}

/** The key's comment is replaced: nothing that a person wrote reaches the file. */
function authorizedLine({ id, public_key }: { id: number; public_key: string }): string {
  return `${withoutComment(public_key)} stagi-key-${id}`;
}

const withoutComment = (line: string): string => line.split(/\s+/, 2).join(' ');

/** Stores which keys a server reports as installed. Idempotent. */
export async function recordInstalledKeys(db: Db, instanceId: number, presentLines: string[]): Promise<void> {
  const present = new Set(presentLines.map(withoutComment));
  const keys = await db
    .selectFrom('instance_ssh_key')
    .innerJoin('ssh_key', 'ssh_key.id', 'instance_ssh_key.ssh_key_id')
    .innerJoin('instance', 'instance.id', 'instance_ssh_key.instance_id')
    .select(['ssh_key.id', 'public_key', 'installed_at', 'workspace_id'])
    .where('instance_id', '=', instanceId)
    .execute();
  const changed = keys.filter((key) => present.has(withoutComment(key.public_key)) !== (key.installed_at !== null));
  if (changed.length === 0) return;
  for (const key of changed) {
    await db
      .updateTable('instance_ssh_key')
      .set({ installed_at: key.installed_at === null ? sql<Date>`now()` : null })
      .where('instance_id', '=', instanceId)
      .where('ssh_key_id', '=', key.id)
      .execute();
  }
  await announceInstance(db, { id: instanceId, workspace_id: changed[0]!.workspace_id, kind: 'rented' });
}

const SORTABLE = { createdAt: 'instance_ssh_key.created_at', title: 'ssh_key.title', owner: 'app_user.name' } as const;

/** The keys of one instance, whose ownership the caller has checked. */
export async function listSshAccess(
  { db, user }: { db: Db; user: { id: number } },
  instanceId: number,
  request: EntityFilterRequest,
): Promise<{ entities: InstanceSshKey[]; count: number }> {
  let all = sshAccessOf(db, instanceId);
  if (request.queryString) {
    all = all.where(contains(['ssh_key.title', 'ssh_key.fingerprint', 'app_user.name'], request.queryString));
  }
  const [rows, { count }] = await Promise.all([
    all
      .orderBy(sortColumn(request, SORTABLE), request.orderByDirection)
      .orderBy('ssh_key.id')
      .limit(request.limit)
      .offset(offsetOf(request))
      .execute(),
    all.clearSelect().select(sql<number>`count(*)::int`.as('count')).executeTakeFirstOrThrow(),
  ]);
  return { entities: rows.map((row) => presentSshAccess(row, user.id)), count };
}

/** Grants access to one server with one of the caller's own keys. */
export async function grantSshAccess(
  trx: Db,
  ctx: Caller,
  input: { id: number; sshKeyId: number },
): Promise<InstanceSshKey> {
  const instance = await lockInstance(trx, ctx.workspace.id, 'rented', { id: input.id });
  if (instance.closed_at || instance.desired === 'gone')
    throw refused(text('This instance is already being terminated'));
  const key = await trx
    .selectFrom('ssh_key')
    .select(['id', 'title', 'fingerprint'])
    .where(isId('id', input.sshKeyId))
    .where('user_id', '=', ctx.user.id)
    .forKeyShare()
    .executeTakeFirst();
  if (!key) throw invalid(text('This SSH key cannot be found'), 'sshKeyId');
  const added = await trx
    .insertInto('instance_ssh_key')
    .values({ instance_id: instance.id, ssh_key_id: key.id })
    .onConflict((conflict) => conflict.doNothing())
    .returning('ssh_key_id')
    .executeTakeFirst();
  if (!added) throw invalid(text('This SSH key already has access'), 'sshKeyId');
  await keysChanged(trx, instance.id, 'ssh key added', key, ctx.user.id);
  await announceInstance(trx, instance);
  const row = await sshAccessOf(trx, instance.id).where('ssh_key.id', '=', key.id).executeTakeFirstOrThrow();
  return presentSshAccess(row, ctx.user.id);
}

/** Revokes a key on one server, whoever owns it. */
export async function revokeSshAccess(trx: Db, ctx: Caller, input: { id: number; sshKeyId: number }): Promise<void> {
  const instance = await lockInstance(trx, ctx.workspace.id, 'rented', { id: input.id });
  const key = await sshAccessOf(trx, instance.id).where(isId('ssh_key.id', input.sshKeyId)).executeTakeFirst();
  if (!key) throw notFound();
  await trx
    .deleteFrom('instance_ssh_key')
    .where('instance_id', '=', instance.id)
    .where('ssh_key_id', '=', key.id)
    .execute();
  await keysChanged(trx, instance.id, 'ssh key removed', key, ctx.user.id);
  await announceInstance(trx, instance);
}

/** Revokes a key that is being deleted on every open server. */
export async function revokeKeyEverywhere(
  trx: Db,
  key: { id: number; title: string; fingerprint: string },
  actorId: number,
): Promise<void> {
  const instances = await trx
    .selectFrom('instance_ssh_key')
    .innerJoin('instance', 'instance.id', 'instance_ssh_key.instance_id')
    .select(['instance.id', 'instance.workspace_id', 'instance.kind'])
    .where('ssh_key_id', '=', key.id)
    .where('closed_at', 'is', null)
    .orderBy('instance.id')
    .execute();
  await trx.deleteFrom('instance_ssh_key').where('ssh_key_id', '=', key.id).execute();
  const ids = instances.map(({ id }) => id);
  await recordActivity(trx, ids, { kind: 'ssh key removed', actorId, detail: labelOf(key) });
  await announceAll(
    trx,
    'node',
    ids.map((instanceId) => ({ instanceId })),
  );
  await announceAll(trx, 'changed', instances.map(changedEvent));
}

/** Revokes all keys of a person who leaves a workspace on its open servers. */
export async function revokeMemberKeys(
  trx: Db,
  { workspaceId, userId, actorId }: { workspaceId: number; userId: number; actorId: number },
): Promise<void> {
  const { rows } = await sql<{ id: number; workspace_id: number; kind: 'rented' | 'self-hosted'; labels: string[] }>`
    with taken as (
      delete from instance_ssh_key k using ssh_key s, instance i
      where s.id = k.ssh_key_id and s.user_id = ${userId} and i.id = k.instance_id
        and i.workspace_id = ${workspaceId} and i.closed_at is null
      returning i.id, i.workspace_id, i.kind, s.title || ' (' || s.fingerprint || ')' as label)
    select id, workspace_id, kind, array_agg(label order by label) as labels from taken group by 1, 2, 3 order by 1`.execute(
    trx,
  );
  for (const { id, labels } of rows)
    for (const detail of labels) await recordActivity(trx, id, { kind: 'ssh key removed', actorId, detail });
  await announceAll(
    trx,
    'node',
    rows.map(({ id }) => ({ instanceId: id })),
  );
  await announceAll(trx, 'changed', rows.map(changedEvent));
}

/** Makes the servers that have keys of a person, or of a workspace, fetch their authorized keys again. */
export async function resyncAuthorizedKeys(
  trx: Db,
  { userId, workspaceId }: { userId: number; workspaceId?: never } | { userId?: never; workspaceId: number },
): Promise<void> {
  const rows = await trx
    .selectFrom('ssh_key')
    .innerJoin('instance_ssh_key', 'instance_ssh_key.ssh_key_id', 'ssh_key.id')
    .innerJoin('instance', 'instance.id', 'instance_ssh_key.instance_id')
    .select('instance.id')
    .distinct()
    .$if(userId !== undefined, (query) => query.where('ssh_key.user_id', '=', userId!))
    .$if(workspaceId !== undefined, (query) => query.where('instance.workspace_id', '=', workspaceId!))
    .where('instance.closed_at', 'is', null)
    .execute();
  await announceAll(
    trx,
    'node',
    rows.map(({ id }) => ({ instanceId: id })),
  );
}

async function keysChanged(
  trx: Db,
  instanceId: number,
  kind: 'ssh key added' | 'ssh key removed',
  key: { title: string; fingerprint: string },
  actorId: number,
): Promise<void> {
  await recordActivity(trx, instanceId, { kind, actorId, detail: labelOf(key) });
  await announce(trx, 'node', { instanceId });
}

const labelOf = (key: { title: string; fingerprint: string }): string => `${key.title} (${key.fingerprint})`;

function sshAccessOf(db: Db, instanceId: number) {
  return db
    .selectFrom('instance_ssh_key')
    .innerJoin('ssh_key', 'ssh_key.id', 'instance_ssh_key.ssh_key_id')
    .innerJoin('app_user', 'app_user.id', 'ssh_key.user_id')
    .select(['ssh_key.id', 'ssh_key.user_id', 'ssh_key.title', 'ssh_key.type', 'ssh_key.fingerprint'])
    .select(['ssh_key.generated', 'app_user.name as owner', 'installed_at'])
    .where('instance_ssh_key.instance_id', '=', instanceId);
}

type SshAccessRow = Awaited<ReturnType<ReturnType<typeof sshAccessOf>['executeTakeFirstOrThrow']>>;

function presentSshAccess(row: SshAccessRow, viewerId: number): InstanceSshKey {
  return {
    id: row.id,
    title: row.title,
    fingerprint: row.fingerprint,
    owner: row.owner,
    isMine: row.user_id === viewerId,
    fileName: row.generated ? keyFileName(row) : null,
    installedAt: row.installed_at?.toISOString() ?? null,
  };
}
