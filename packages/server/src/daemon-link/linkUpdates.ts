import pg from 'pg';
import type { Context } from '../context.ts';
import type { Db } from '../db/schema.ts';
import { isOverload } from '../http/errors.ts';
import { batchQuestions } from '../loops/batches.ts';
import { pendingCommands } from '../nodes/commands.ts';
import { desiredDocuments } from './desiredDocuments.ts';
import { findEndedConnections, type NodeConnection } from './nodeConnection.ts';

/** What a link has to be told. */
export interface LinkUpdates {
  /** Why the link must be closed; then there is nothing else. */
  end: { revoked: string } | 'fenced' | null;
  /** `null` when the daemon has it already, or has not said hello. */
  desired: { document: string; digest: string } | null;
  commands: { id: string; document: string }[];
}

interface UpdateRequest {
  node: NodeConnection;
  /** The digest of the last document; `null` before the first, `undefined` for a daemon that has not said hello. */
  sent: string | null | undefined;
}

type Services = Pick<Context, 'db' | 'keys' | 'secrets'>;

/** A change may concern every server at once, so reads are batched. */
const BATCH_SIZE = 100;

const readers = new WeakMap<Db, (request: UpdateRequest) => Promise<LinkUpdates>>();

/** Reads the updates for one link. Concurrent reads share their queries. */
export function readUpdates(ctx: Services, node: NodeConnection, sent: UpdateRequest['sent']): Promise<LinkUpdates> {
  let reader = readers.get(ctx.db);
  if (!reader) {
    reader = batchQuestions(BATCH_SIZE, (requests) => readBatch(ctx, requests), concernsOneRequest);
    readers.set(ctx.db, reader);
  }
  return reader({ node, sent });
}

const LOCK_NOT_AVAILABLE = '55P03';

/** A locked row, or a document that cannot be made, must not fail the other requests of the batch. */
function concernsOneRequest(error: unknown): boolean {
  return !isOverload(error) || (error instanceof pg.DatabaseError && error.code === LOCK_NOT_AVAILABLE);
}

async function readBatch(ctx: Services, requests: readonly UpdateRequest[]): Promise<LinkUpdates[]> {
  const ends = await findEndedConnections(
    ctx.db,
    requests.map(({ node }) => node),
  );
  const active = requests.filter(({ node, sent }) => ends.get(node) === null && sent !== undefined);
  const desired = await desiredDocuments(
    ctx,
    active.map(({ node, sent }) => ({ node, sent: sent ?? null })),
  );
  const commands = await pendingCommands(
    ctx,
    ctx.db,
    active.map(({ node }) => node.instanceId),
  );
  return requests.map(({ node, sent }) => ({
    end: ends.get(node) ?? null,
    desired: desired.get(node) ?? null,
    commands: sent === undefined || ends.get(node) ? [] : (commands.get(node.instanceId) ?? []),
  }));
}
