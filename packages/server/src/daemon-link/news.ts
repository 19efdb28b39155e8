import pg from 'pg';
import { inBatches } from '../batches.ts';
import type { Context } from '../context.ts';
import type { Db } from '../db/schema.ts';
import { isOverload } from '../http/errors.ts';
import { openCommands } from './commands.ts';
import { desiredDocuments } from './desired.ts';
import { type Connected, endsOf } from './node.ts';

/** What a connection should know now. */
export interface News {
  /** Why it may not go on; then nothing else is told. */
  over: { revoked: string } | 'fenced' | null;
  /** `null`: the daemon has been sent the same already, or has not said hello. */
  desired: { document: string; digest: string } | null;
  commands: { id: string; document: string }[];
}

interface Question {
  node: Connected;
  /** The digest of what was sent last; `null` for nothing, `undefined` for a daemon that has not said hello. */
  sent: string | null | undefined;
}

type Ground = Pick<Context, 'db' | 'keys' | 'secrets'>;

/** A change may concern every server at once: so many are told with one look at the database. */
const AT_ONCE = 100;

const readers = new WeakMap<Db, (question: Question) => Promise<News>>();

/** Looks what there is for one connection. Those that look at the same time share their queries. */
export function readNews(ctx: Ground, node: Connected, sent: Question['sent']): Promise<News> {
  let reader = readers.get(ctx.db);
  if (!reader) {
    reader = inBatches(AT_ONCE, (questions) => readTogether(ctx, questions), isOfOne);
    readers.set(ctx.db, reader);
  }
  return reader({ node, sent });
}

const LOCKED = '55P03';

/** Somebody holds one of the rows, or one content cannot be made: no matter of the others. */
function isOfOne(error: unknown): boolean {
  return !isOverload(error) || (error instanceof pg.DatabaseError && error.code === LOCKED);
}

async function readTogether(ctx: Ground, questions: readonly Question[]): Promise<News[]> {
  const ends = await endsOf(
    ctx.db,
    questions.map(({ node }) => node),
  );
  const welcome = questions.filter(({ node, sent }) => ends.get(node) === null && sent !== undefined);
  const desired = await desiredDocuments(
    ctx,
    welcome.map(({ node, sent }) => ({ node, sent: sent ?? null })),
  );
  const commands = await openCommands(
    ctx,
    ctx.db,
    welcome.map(({ node }) => node.instanceId),
  );
  return questions.map(({ node, sent }) => ({
    over: ends.get(node) ?? null,
    desired: desired.get(node) ?? null,
    commands: sent === undefined || ends.get(node) ? [] : (commands.get(node.instanceId) ?? []),
  }));
}
