import { IMAGES_FEATURE } from '@stagi/contract/daemon.ts';
import { type Command, Command as CommandShape } from '@stagi/contract/desiredState.ts';
import { canonicalImage } from '@stagi/contract/imageReference.ts';
import type { Ref } from '@stagi/contract/page.ts';
import { IMAGE_OPERATIONS_SHOWN, type ImageOperation, imageCan } from '@stagi/contract/serverImages.ts';
import { text } from '@stagi/contract/text.ts';
import { type Selectable, sql } from 'kysely';
import type { Viewer } from '../containers/access.ts';
import type { DaemonCommandTable } from '../db/computeTables.ts';
import { inTransaction } from '../db/pool.ts';
import type { Db } from '../db/schema.ts';
import { notFound, refused } from '../http/errors.ts';
import { sendCommand } from '../nodes/commands.ts';
import { imagesOf } from './images.ts';
import { managedServer } from './managedServer.ts';

const KINDS = ['image-remove', 'image-prune'] as const;
type Body = Extract<Command['do'], { kind: (typeof KINDS)[number] }>;

/** Refused for an image in use. The server checks again: it also knows containers that are not ours. */
export function removeImage(viewer: Viewer, ref: Ref, reference: string): Promise<ImageOperation> {
  return inTransaction(viewer.db, async (trx) => {
    const server = await serverForChange({ ...viewer, db: trx }, ref);
    const name = canonicalImage(reference);
    const { entities } = await imagesOf(trx, server);
    const image = entities.find((one) => one.reference === reference || one.reference === name);
    if (!image) throw notFound();
    const verdict = imageCan.remove(image);
    if (!verdict.allowed) throw refused(verdict.reason);
    return send(trx, server.id, { kind: 'image-remove', reference: image.reference });
  });
}

export function pruneImages(viewer: Viewer, ref: Ref, dryRun: boolean): Promise<ImageOperation> {
  return inTransaction(viewer.db, async (trx) => {
    const server = await serverForChange({ ...viewer, db: trx }, ref);
    return send(trx, server.id, { kind: 'image-prune', dryRun });
  });
}

/** The last ones of a server, newest first. */
export async function lastOperations(db: Db, instanceId: number): Promise<ImageOperation[]> {
  const rows = await operationsOf(db, instanceId).orderBy('created_at', 'desc').limit(IMAGE_OPERATIONS_SHOWN).execute();
  return rows.map(presentOperation);
}

async function serverForChange(viewer: Viewer, ref: Ref) {
  const server = await managedServer(viewer, ref);
  const { status, features } = await viewer.db
    .selectFrom('instance')
    .leftJoin('daemon_node', 'daemon_node.instance_id', 'instance.id')
    .select(['instance.status', 'daemon_node.features'])
    .where('instance.id', '=', server.id)
    .executeTakeFirstOrThrow();
  const verdict = imageCan.change({ status });
  if (!verdict.allowed) throw refused(verdict.reason);
  if (!features?.includes(IMAGES_FEATURE))
    throw refused(text('The agent of this server is too old for this: install it again'));
  return server;
}

async function send(trx: Db, instanceId: number, body: Body): Promise<ImageOperation> {
  const id = await sendCommand({}, trx, instanceId, body);
  return presentOperation(await operationsOf(trx, instanceId).where('id', '=', id).executeTakeFirstOrThrow());
}

const operationsOf = (db: Db, instanceId: number) =>
  db
    .selectFrom('daemon_command')
    .selectAll()
    .select(sql<boolean>`expires_at < now()`.as('expired'))
    .where('instance_id', '=', instanceId)
    .where(sql<string>`body ->> 'kind'`, 'in', [...KINDS]);

function presentOperation(row: Selectable<DaemonCommandTable> & { expired: boolean }): ImageOperation {
  const body = CommandShape.shape.do.parse(row.body) as Body;
  const unanswered = row.expired ? 'expired' : 'waiting';
  return {
    id: row.id,
    kind: body.kind === 'image-remove' ? 'remove' : body.dryRun ? 'preview' : 'prune',
    reference: body.kind === 'image-remove' ? body.reference : null,
    state: row.answered_at === null ? unanswered : row.ok ? 'done' : 'refused',
    message: row.message,
    references: row.result?.references ?? [],
    freedBytes: row.result?.bytes ?? null,
    askedAt: row.created_at.toISOString(),
    answeredAt: row.answered_at?.toISOString() ?? null,
  };
}
