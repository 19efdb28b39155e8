import { AUDIT_COUNT_MAX, type AuditEntry } from '@stagi/contract/audit.ts';
import type { EntityFilterRequest } from '@stagi/contract/page.ts';
import { sql } from 'kysely';
import type { AuditTable, Db } from '../db/schema.ts';
import { offsetOf, sortColumn } from '../http/paging.ts';

export interface EntryFilter {
  from?: string;
  to?: string;
  areas?: string[];
  userIds?: number[];
  outcomes?: string[];
}

/** The entries of a chain that match a filter. A chain is in the order of time. */
function entriesOf(db: Db, chain: number, { from, to, areas, userIds, outcomes }: EntryFilter) {
  let entries = db.selectFrom('audit').where('audit.chain', '=', chain);
  if (from) entries = entries.where('audit.at', '>=', new Date(from));
  if (to) entries = entries.where('audit.at', '<=', new Date(to));
  if (areas?.length) entries = entries.where('audit.area', 'in', areas);
  if (userIds?.length) entries = entries.where('audit.actor_id', 'in', userIds);
  if (outcomes?.length) entries = entries.where('audit.outcome', 'in', outcomes as AuditTable['outcome'][]);
  return entries;
}

/**
 * One page. No more than `AUDIT_COUNT_MAX` are counted: nobody turns that many pages, and counting takes time. Whole
 * rows are read of the page alone; everything before it is passed in an index.
 */
export async function pageOfEntries(db: Db, chain: number, narrowed: EntryFilter, request: EntityFilterRequest) {
  sortColumn(request, { createdAt: 'seq', at: 'seq' });
  const entries = entriesOf(db, chain, narrowed).select('audit.seq');
  const direction = sql.raw(request.orderByDirection);
  // The same order; by the column that the bounds are of, the index leads straight to them.
  const isBounded = narrowed.from !== undefined || narrowed.to !== undefined;
  const order = isBounded ? sql`audit.at ${direction}, audit.seq ${direction}` : sql`audit.seq ${direction}`;
  const page = entries.orderBy(order).limit(request.limit).offset(offsetOf(request));
  const [rows, { count }] = await Promise.all([
    presentable(db.selectFrom('audit').where('audit.chain', '=', chain))
      .where('audit.seq', '=', sql<bigint>`any(array(${page}))`)
      .orderBy(order)
      .execute(),
    db
      .selectFrom(entries.limit(AUDIT_COUNT_MAX + 1).as('counted'))
      .select(sql<number>`count(*)::int`.as('count'))
      .executeTakeFirstOrThrow(),
  ]);
  const entities = await withPeopleNamed(db, rows.map(present));
  return { entities, count: Math.min(count, AUDIT_COUNT_MAX), isMore: count > AUDIT_COUNT_MAX };
}

/** Looked up when read: the log does not keep the names of people who delete their accounts. */
async function withPeopleNamed(db: Db, entries: AuditEntry[]): Promise<AuditEntry[]> {
  const ids = entries.flatMap(({ detail }) => peopleIn(detail));
  if (ids.length === 0) return entries;
  const people = await db.selectFrom('app_user').select(['id', 'name']).where('id', 'in', ids).execute();
  const nameOf = (id: number) => people.find((person) => person.id === id)?.name ?? `#${id}`;
  return entries.map((entry) => {
    const named = peopleIn(entry.detail).map(nameOf).join(', ');
    return named === '' ? entry : { ...entry, detail: { ...entry.detail, names: { userIds: named } } };
  });
}

function peopleIn({ userIds }: AuditEntry['detail']): number[] {
  return Array.isArray(userIds) ? userIds.filter((id) => typeof id === 'number') : [];
}

/** Up to `limit` entries before one of them, newest first. */
export async function entriesBefore(
  db: Db,
  chain: number,
  narrowed: EntryFilter,
  before: number | undefined,
  limit: number,
) {
  let entries = entriesOf(db, chain, narrowed);
  if (before !== undefined) entries = entries.where('audit.seq', '<', BigInt(before));
  const rows = await presentable(entries).orderBy('audit.seq', 'desc').limit(limit).execute();
  return rows.map(present);
}

/** A loose index scan, one step per area: reading all entries for a few distinct words would take seconds. */
export async function areasOf(db: Db, chain: number): Promise<string[]> {
  const { rows } = await sql<{ area: string }>`
    with recursive areas as (
      (select area from audit where chain = ${chain} order by area limit 1)
      union all
      select (select area from audit where chain = ${chain} and area > areas.area order by area limit 1)
      from areas where areas.area is not null)
    select area from areas where area is not null`.execute(db);
  return rows.map(({ area }) => area);
}

function presentable(entries: ReturnType<typeof entriesOf>) {
  return entries
    .leftJoin('app_user', 'app_user.id', 'audit.actor_id')
    .select([
      'audit.seq',
      'audit.at',
      'audit.actor_id',
      'audit.credential',
      'audit.ip',
      'audit.user_agent',
      'audit.action',
      'audit.object_type',
      'audit.object_id',
      'audit.object_label',
      'audit.outcome',
      'audit.detail',
      'audit.before_hash',
      'audit.after_hash',
      'audit.hash',
      'app_user.name',
      'app_user.email',
    ]);
}

type Row = Awaited<ReturnType<ReturnType<typeof presentable>['execute']>>[number];

function present(row: Row): AuditEntry {
  return {
    id: Number(row.seq),
    at: row.at.toISOString(),
    actor: row.actor_id === null ? null : { userId: row.actor_id, name: row.name ?? '', email: row.email ?? '' },
    by: row.credential,
    ip: row.ip,
    userAgent: row.user_agent,
    action: row.action,
    object: row.object_type === null ? null : { type: row.object_type, id: row.object_id, label: row.object_label },
    outcome: row.outcome,
    detail: row.detail,
    before: row.before_hash?.toString('hex') ?? null,
    after: row.after_hash?.toString('hex') ?? null,
    hash: row.hash.toString('hex'),
  };
}
