import type { api } from '@stagi/contract/api.ts';
import type { ParsedInputOf } from '@stagi/contract/call.ts';
import type { ContactRequest } from '@stagi/contract/contact.ts';
import { CONTACT_TOPICS } from '@stagi/contract/contactTopics.ts';
import { type Selectable, sql } from 'kysely';
import type { ContactRequestTable, Db } from '../db/schema.ts';
import { notFound } from '../http/errors.ts';
import { contains, isId, offsetOf, sortColumn } from '../http/paging.ts';

/** Sorts by id where sorted by time: ids are assigned in that order. */
const SORTABLE = {
  createdAt: 'contact_request.id',
  at: 'contact_request.id',
  topic: 'contact_request.topic',
  name: 'contact_request.name',
  handled: 'contact_request.handled_at',
} as const;
const SEARCHED = ['name', 'email', 'company', 'message', 'model_name', 'model_id'].map(
  (column) => `contact_request.${column}`,
);

type Input = ParsedInputOf<typeof api.contact.list>;

export async function listContactRequests(
  db: Db,
  { entityFilterRequest: request, handled, topics }: Input,
): Promise<{ entities: ContactRequest[]; count: number }> {
  let all = everything(db);
  if (handled !== undefined) all = all.where('contact_request.handled_at', handled ? 'is not' : 'is', null);
  if (topics?.length) all = all.where('contact_request.topic', 'in', topics);
  if (request.queryString) all = all.where(contains(SEARCHED, request.queryString));
  const [rows, { count }] = await Promise.all([
    selected(all)
      .orderBy(sortColumn(request, SORTABLE), request.orderByDirection)
      .orderBy('contact_request.id', request.orderByDirection)
      .limit(request.limit)
      .offset(offsetOf(request))
      .execute(),
    all.select(sql<number>`count(*)::int`.as('count')).executeTakeFirstOrThrow(),
  ]);
  return { entities: rows.map(present), count };
}

export async function viewContactRequest(db: Db, id: number): Promise<ContactRequest> {
  const row = await selected(everything(db)).where(isId('contact_request.id', id)).executeTakeFirst();
  if (!row) throw notFound();
  return present(row);
}

const everything = (db: Db) =>
  db
    .selectFrom('contact_request')
    .leftJoin('app_user as sender', 'sender.id', 'contact_request.user_id')
    .leftJoin('app_user as handler', 'handler.id', 'contact_request.handled_by');

const selected = (query: ReturnType<typeof everything>) =>
  query
    .selectAll('contact_request')
    .select(['sender.name as sender_name', 'sender.email as sender_email', 'handler.name as handler_name']);

type Row = Selectable<ContactRequestTable> & {
  sender_name: string | null;
  sender_email: string | null;
  handler_name: string | null;
};

const present = (row: Row): ContactRequest => ({
  id: row.id,
  at: row.created_at.toISOString(),
  topic: topicOf(row.topic),
  name: row.name,
  email: row.email,
  company: row.company,
  message: row.message,
  about:
    row.model_id === null
      ? null
      : { model: { id: row.model_id, name: row.model_name! }, gpu: row.gpu, quality: row.quality },
  from: row.user_id === null ? null : { userId: row.user_id, name: row.sender_name!, email: row.sender_email! },
  looksAutomated: row.looks_automated,
  mailed: row.mailed,
  handled:
    row.handled_at === null
      ? null
      : { at: row.handled_at.toISOString(), by: { userId: row.handled_by!, name: row.handler_name! } },
  note: row.note,
});

/** The stored text is one of the form's topics. */
function topicOf(text: string): ContactRequest['topic'] {
  const topic = CONTACT_TOPICS.find((known) => known === text);
  if (!topic) throw new Error(`a contact request about the unknown topic ${text}`);
  return topic;
}
