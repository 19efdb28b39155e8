import { plainPath } from '@stagi/contract/codePath.ts';
import { holdsAny, type Permission } from '@stagi/contract/permissions.ts';
import { projectCan } from '@stagi/contract/projectRules.ts';
import { create } from 'content-disposition';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Context } from '../context.ts';
import { imageTypeOf, streamBlob, textOf } from '../git/blobs.ts';
import type { Repository } from '../git/repositories.ts';
import { typeOf, walkTo } from '../git/walk.ts';
import { PublicError } from '../http/errors.ts';
import { viewProject } from '../projects/find.ts';
import { actionable } from '../projects/present.ts';
import { currentOwner } from '../sessions/streamTicket.ts';
import { asPerson } from '../slots/holder.ts';
import { holdForAnswer } from '../slots/holdForAnswer.ts';
import { type CodeTicket, openCodeTicket } from './codeTicket.ts';
import { fileNameOf } from './fileName.ts';
import { ContentRefusal, linkEnded, noSuchLink } from './sendObject.ts';

const READ: readonly Permission[] = ['PROJECT', 'PROJECT_MANAGEMENT'];
/** Up to this size it is known whether a file is text; a larger one is sent as bytes. */
const SNIFFED_BYTES = 8 * 1024 * 1024;
const IN_MEMORY_BYTES = 8 * 1024 * 1024;
/** How often an answer that takes long is checked: who may no longer read is cut off. */
const CHECK_MS = 1_500;
const TEXT = 'text/plain; charset=utf-8';
const BYTES = 'application/octet-stream';

/** Answers with a file of a commit: text as plain text, images as images, anything else as bytes. */
export async function sendCode(
  ctx: Context,
  { sealed, path, isDownload }: { sealed: string; path: string; isDownload: boolean },
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const ticket = openCodeTicket(ctx, sealed);
  if (!ticket) throw noSuchLink();
  if (ticket.isExpired) throw linkEnded();
  const reader = asPerson(ticket.user, ticket.workspace);
  // Before the database is asked.
  ctx.slots.rawFiles.requireChance(reader);
  const repository = await readableBy(ctx, ticket);
  if (!repository) throw linkEnded();
  holdForAnswer(request, reply, ctx.slots.rawFiles, reader);
  const { sha, name, size } = await fileAt(repository, ticket.commit, path);
  const content = size <= IN_MEMORY_BYTES ? ((await repository.read(sha))?.content ?? null) : null;
  const type = imageTypeOf(name) ?? (content && size <= SNIFFED_BYTES && textOf(content) !== null ? TEXT : BYTES);
  void reply
    .status(200)
    .type(type)
    .header('content-length', size)
    .header('content-disposition', create(fileNameOf(plainPath(path)), { type: isDownload ? 'attachment' : 'inline' }));
  // The web app shows it in its own pages.
  if (type.startsWith('image/')) void reply.header('cross-origin-resource-policy', 'cross-origin');
  if (request.method === 'HEAD') return reply.send();
  if (content) return reply.send(content);
  const stream = streamBlob(repository.dir, sha);
  const { socket } = request.raw;
  const check = setInterval(() => {
    void readableBy(ctx, ticket).then(
      (still) => still ?? socket.resetAndDestroy(),
      (error: unknown) => request.log.warn({ err: error }, 'the reader of a file could not be checked'),
    );
  }, CHECK_MS);
  reply.raw.once('close', () => clearInterval(check));
  return reply.send(stream);
}

/** Null: the project is gone, or whoever has the link may no longer read it. */
async function readableBy(
  ctx: Context,
  { workspace, project: projectId, credential }: CodeTicket,
): Promise<Repository | null> {
  const owner = await currentOwner(ctx, { credential, workspace: { id: workspace } });
  if (typeof owner === 'string' || !holdsAny(owner.workspace.permissions, READ)) return null;
  const project = await viewProject(ctx.db, workspace, { id: projectId });
  if (!projectCan.read(actionable(project)).allowed) return null;
  return ctx.repositories.at(project.repository, asPerson(owner.user.id, workspace));
}

async function fileAt(
  repository: Repository,
  commit: string,
  path: string,
): Promise<{ sha: string; name: string; size: number }> {
  try {
    const stored = await repository.commit(commit);
    const { entry } = stored ? await walkTo(repository, stored.tree, path) : { entry: null };
    const info = entry && typeOf(entry) === 'blob' ? await repository.info(entry.sha) : null;
    if (entry && info?.type === 'blob') return { sha: entry.sha, name: entry.name, size: info.size };
  } catch (error) {
    if (!(error instanceof PublicError && error.status === 404)) throw error;
  }
  throw new ContentRefusal(404, 'There is no such file.');
}
