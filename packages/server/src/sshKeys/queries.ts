import type { EntityFilterRequest } from '@stagi/contract/page.ts';
import { keyFileName, type SshKey } from '@stagi/contract/sshKeys.ts';
import type { Selectable } from 'kysely';
import { sql } from 'kysely';
import type { SshKeyTable } from '../db/computeTables.ts';
import type { Db } from '../db/schema.ts';
import { contains, offsetOf, sortColumn } from '../http/paging.ts';

export type SshKeyRow = Selectable<SshKeyTable> & { instance_count: number };

const SORTABLE = { createdAt: 'created_at', title: 'title', type: 'type' } as const;

export async function listKeys(
  db: Db,
  userId: number,
  request: EntityFilterRequest,
): Promise<{ rows: SshKeyRow[]; count: number }> {
  let mine = db.selectFrom('ssh_key').where('user_id', '=', userId);
  if (request.queryString) mine = mine.where(contains(['title', 'fingerprint'], request.queryString));
  const [rows, { count }] = await Promise.all([
    mine
      .selectAll()
      .select(instanceCount)
      .orderBy(sortColumn(request, SORTABLE), request.orderByDirection)
      .orderBy('id', request.orderByDirection)
      .limit(request.limit)
      .offset(offsetOf(request))
      .execute(),
    mine.select(sql<number>`count(*)::int`.as('count')).executeTakeFirstOrThrow(),
  ]);
  return { rows, count };
}

/** The number of running servers that the key is installed on. */
const instanceCount = sql<number>`(select count(*)::int from instance_ssh_key k join instance i on i.id = k.instance_id
  where k.ssh_key_id = ssh_key.id and i.closed_at is null and i.status in ('online', 'rebooting', 'unresponsive'))`.as(
  'instance_count',
);

export function presentKey(row: SshKeyRow): SshKey {
  return {
    id: row.id,
    title: row.title,
    type: row.type,
    publicKey: row.public_key,
    fingerprint: row.fingerprint,
    fileName: row.generated ? keyFileName(row) : null,
    createdAt: row.created_at.toISOString(),
    instanceCount: row.instance_count,
  };
}
