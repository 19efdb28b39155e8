import type { Feedback } from '@stagi/contract/feedback.ts';
import { FEEDBACK_TOPICS } from '@stagi/contract/feedbackTopics.ts';
import type { EntityFilterRequest } from '@stagi/contract/page.ts';
import { sql } from 'kysely';
import type { Context } from '../context.ts';
import type { Db, FeedbackRow } from '../db/schema.ts';
import { readFile } from '../files/keep.ts';
import { notFound } from '../http/errors.ts';
import { contains, isId, offsetOf, sortColumn } from '../http/paging.ts';

const SORTABLE = { createdAt: 'feedback.id', at: 'feedback.id', topic: 'feedback.topic' } as const;
const SEARCHED = [
  'feedback.subject',
  'feedback.description',
  'feedback.contact_email',
  'app_user.email',
  'app_user.name',
];

type Topic = Feedback['topic'];

/** Sorts by id where sorted by time: ids are assigned in that order. */
export async function listFeedback(
  db: Db,
  { entityFilterRequest: request, topics }: { entityFilterRequest: EntityFilterRequest; topics?: Topic[] | undefined },
): Promise<{ entities: Feedback[]; count: number }> {
  let all = everything(db);
  if (topics?.length) all = all.where('feedback.topic', 'in', topics);
  if (request.queryString) all = all.where(contains(SEARCHED, request.queryString));
  const [rows, { count }] = await Promise.all([
    all
      .select(COLUMNS)
      .orderBy(sortColumn(request, SORTABLE), request.orderByDirection)
      .orderBy('feedback.id', request.orderByDirection)
      .limit(request.limit)
      .offset(offsetOf(request))
      .execute(),
    all.select(sql<number>`count(*)::int`.as('count')).executeTakeFirstOrThrow(),
  ]);
  return { entities: await withImages(db, rows), count };
}

export async function viewFeedback(db: Db, id: number): Promise<Feedback> {
  const rows = await everything(db).select(COLUMNS).where(isId('feedback.id', id)).execute();
  const [one] = await withImages(db, rows);
  if (!one) throw notFound();
  return one;
}

/** One image as it was re-encoded, never the uploaded file. */
export async function feedbackImage(
  ctx: Pick<Context, 'db' | 'files'>,
  { id, position }: { id: number; position: number },
) {
  const image = await ctx.db
    .selectFrom('feedback_image')
    .select(['mime_type', 'content', 'file_id'])
    .where(isId('feedback_id', id))
    .where('position', '=', position)
    .executeTakeFirst();
  if (!image) throw notFound();
  const content = image.content ?? (await readFile(ctx, image.file_id!));
  return { mimeType: image.mime_type, contentBase64: content.toString('base64') };
}

const everything = (db: Db) => db.selectFrom('feedback').innerJoin('app_user', 'app_user.id', 'feedback.user_id');

const COLUMNS = [
  'feedback.id',
  'feedback.created_at',
  'feedback.topic',
  'feedback.subject',
  'feedback.description',
  'feedback.contact_email',
  'feedback.user_agent',
  'feedback.user_id',
  'app_user.name',
  'app_user.email',
] as const;

type Row = FeedbackRow & { name: string; email: string };

async function withImages(db: Db, rows: readonly Row[]): Promise<Feedback[]> {
  const images = await imagesOf(
    db,
    rows.map(({ id }) => id),
  );
  return rows.map((row) => ({
    id: row.id,
    at: row.created_at.toISOString(),
    topic: topicOf(row.topic),
    subject: row.subject,
    description: row.description,
    contactEmail: row.contact_email,
    userAgent: row.user_agent,
    from: { userId: row.user_id, name: row.name, email: row.email },
    images: images.filter(({ feedbackId }) => feedbackId === row.id).map(({ feedbackId: _, ...image }) => image),
  }));
}

async function imagesOf(db: Db, ids: readonly number[]) {
  if (ids.length === 0) return [];
  return db
    .selectFrom('feedback_image')
    .leftJoin('stored_file', 'stored_file.id', 'feedback_image.file_id')
    .select([
      'feedback_id as feedbackId',
      'position',
      'file_name as fileName',
      'mime_type as mimeType',
      'width',
      'height',
      sql<number>`coalesce(octet_length(content), stored_file.size)`.as('bytes'),
    ])
    .where('feedback_id', 'in', ids)
    .orderBy('feedback_id')
    .orderBy('position')
    .execute();
}

/** The stored text is one of the form's topics. */
function topicOf(text: string): Topic {
  const topic = FEEDBACK_TOPICS.find((known) => known === text);
  if (!topic) throw new Error(`feedback of the unknown kind ${text}`);
  return topic;
}
