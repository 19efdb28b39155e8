import type { InstanceSshKey } from '@stagi/contract/instances.ts';
import type { EntityFilterRequest } from '@stagi/contract/page.ts';
import { sql } from 'kysely';
import { announce, announceAll } from '../bus/bus.ts';
import type { Db } from '../db/schema.ts';
import { invalid, notFound, refused } from '../http/errors.ts';
import { contains, isId, offsetOf, sortColumn } from '../http/paging.ts';
import { recordActivities, recordActivity } from './activity.ts';
import { lockInstance } from './find.ts';
import { announceInstance, changeOf } from './status.ts';

interface Caller {
  db: Db;
  user: { id: number };
  workspace: { id: number };
}

/** The lines of a server's authorized_keys that are ours; `null` for a server whose keys its owner manages. */
export async function authorizedKeys(db: Db, instanceId: number): Promise<string[] | null> {
  return (await authorizedKeysOf(db, [instanceId])).get(instanceId) ?? null;
}

/**
 * The lines of root's authorized_keys that are ours, of those servers whose keys are: their owners manage the others'.
 * Keys of people who left the workspace or were disabled are not among them.
 */
export async function authorizedKeysOf(db: Db, instanceIds: readonly number[]): Promise<Map<number, string[]>> {
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
    .innerJoin('membership', (join) =>
      join
        .onRef('membership.user_id', '=', 'ssh_key.user_id')
        .onRef('membership.workspace_id', '=', 'instance.workspace_id'),
    )
    .select(['instance_ssh_key.instance_id', 'ssh_key.id', 'ssh_key.public_key'])
    .where('instance_ssh_key.instance_id', '=', servers)
    .where('app_user.disabled_at', 'is', null)
    .orderBy('ssh_key.id')
    .execute();
  for (const key of keys) lines.get(key.instance_id)?.push(authorizedLine(key));
  return lines;
}

/** A comment of ours instead of the owner's: nothing a person wrote reaches the file. */
function authorizedLine({ id, public_key }: { id: number; public_key: string }): string {
  return `${bare(public_key)} stagi-key-${id}`;
}

const bare = (line: string): string => line.split(/\s+/, 2).join(' ');

/** Notes which keys a server says it lets in. Repeating it changes nothing. */
export async function confirmKeys(db: Db, instanceId: number, presentLines: string[]): Promise<void> {
  const present = new Set(presentLines.map(bare));
  const keys = await db
    .selectFrom('instance_ssh_key')
    .innerJoin('ssh_key', 'ssh_key.id', 'instance_ssh_key.ssh_key_id')
    .innerJoin('instance', 'instance.id', 'instance_ssh_key.instance_id')
    .select(['ssh_key.id', 'public_key', 'installed_at', 'workspace_id'])
    .where('instance_id', '=', instanceId)
    .execute();
  const changed = keys.filter((key) => present.has(bare(key.public_key)) !== (key.installed_at !== null));
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
export async function listAccess(
  db: Db,
  instanceId: number,
  request: EntityFilterRequest,
): Promise<{ entities: InstanceSshKey[]; count: number }> {
  let all = accessOf(db, instanceId);
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
  return { entities: rows.map(presentAccess), count };
}

/** Lets one of the caller's own keys in. */
export async function letIn(trx: Db, ctx: Caller, input: { id: number; sshKeyId: number }): Promise<InstanceSshKey> {
  const instance = await lockInstance(trx, ctx.workspace.id, 'rented', { id: input.id });
  if (instance.closed_at || instance.desired === 'gone') throw refused('This instance is being terminated already');
  const key = await trx
    .selectFrom('ssh_key')
    .select(['id', 'title', 'fingerprint'])
    .where(isId('id', input.sshKeyId))
    .where('user_id', '=', ctx.user.id)
    .forKeyShare()
    .executeTakeFirst();
  if (!key) throw invalid('This SSH key cannot be found', 'sshKeyId');
  const added = await trx
    .insertInto('instance_ssh_key')
    .values({ instance_id: instance.id, ssh_key_id: key.id })
    .onConflict((conflict) => conflict.doNothing())
    .returning('ssh_key_id')
    .executeTakeFirst();
  if (!added) throw invalid('This SSH key is let in already', 'sshKeyId');
  await keysChanged(trx, instance.id, 'ssh key added', key, ctx.user.id);
  await announceInstance(trx, instance);
  return presentAccess(await accessOf(trx, instance.id).where('ssh_key.id', '=', key.id).executeTakeFirstOrThrow());
}

/** Takes a key off one instance, whoever's it is. */
export async function takeOff(trx: Db, ctx: Caller, input: { id: number; sshKeyId: number }): Promise<void> {
  const instance = await lockInstance(trx, ctx.workspace.id, 'rented', { id: input.id });
  const key = await accessOf(trx, instance.id).where(isId('ssh_key.id', input.sshKeyId)).executeTakeFirst();
  if (!key) throw notFound();
  await trx
    .deleteFrom('instance_ssh_key')
    .where('instance_id', '=', instance.id)
    .where('ssh_key_id', '=', key.id)
    .execute();
  await keysChanged(trx, instance.id, 'ssh key removed', key, ctx.user.id);
  await announceInstance(trx, instance);
}

/** Takes a key that is being deleted off every server that is not closed. */
export async function lockOut(
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
  await recordActivities(trx, ids, { kind: 'ssh key removed', actorId, detail: labelOf(key) });
  await announceAll(
    trx,
    'node',
    ids.map((instanceId) => ({ instanceId })),
  );
  await announceAll(trx, 'changed', instances.map(changeOf));
}

/** Takes all keys of somebody who leaves a workspace off its servers, of those that are not closed. */
export async function lockOutMember(
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
  await announceAll(trx, 'changed', rows.map(changeOf));
}

/** Has every server that somebody's keys are on look again which of them it lets in. */
export async function tellServersOfKeys(trx: Db, userId: number): Promise<void> {
  const rows = await trx
    .selectFrom('ssh_key')
    .innerJoin('instance_ssh_key', 'instance_ssh_key.ssh_key_id', 'ssh_key.id')
    .innerJoin('instance', 'instance.id', 'instance_ssh_key.instance_id')
    .select('instance.id')
    .distinct()
    .where('ssh_key.user_id', '=', userId)
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
  kind: string,
  key: { title: string; fingerprint: string },
  actorId: number,
): Promise<void> {
  await recordActivity(trx, instanceId, { kind, actorId, detail: labelOf(key) });
  await announce(trx, 'node', { instanceId });
}

const labelOf = (key: { title: string; fingerprint: string }): string => `${key.title} (${key.fingerprint})`;

function accessOf(db: Db, instanceId: number) {
  return db
    .selectFrom('instance_ssh_key')
    .innerJoin('ssh_key', 'ssh_key.id', 'instance_ssh_key.ssh_key_id')
    .innerJoin('app_user', 'app_user.id', 'ssh_key.user_id')
    .select(['ssh_key.id', 'ssh_key.title', 'ssh_key.fingerprint', 'app_user.name as owner', 'installed_at'])
    .where('instance_ssh_key.instance_id', '=', instanceId);
}

function presentAccess(row: {
  id: number;
  title: string;
  fingerprint: string;
  owner: string;
  installed_at: Date | null;
}): InstanceSshKey {
  const { installed_at, ...key } = row;
  return { ...key, installedAt: installed_at?.toISOString() ?? null };
}
