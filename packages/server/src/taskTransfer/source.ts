import { Readable } from 'node:stream';
import { text } from '@stagi/contract/text.ts';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Context } from '../context.ts';
import { openArchive } from '../git/archive.ts';
import { GitError } from '../git/run.ts';
import { createIdleLimit } from '../gitHosting/hostingLimits.ts';
import { createTransfers } from '../gitHosting/transfers.ts';
import { PublicError } from '../http/errors.ts';
import { asServer, asWorkspace } from '../slots/holder.ts';
import { leastRate } from '../slots/leastRate.ts';
import { isRunOpen, type OpenRun, projectOf } from './openRun.ts';

/** A client that reads no byte for so long is cut. */
const IDLE_MS = 60_000;
/** On a graceful shutdown they have this long to end. */
const GRACE_MS = 4_000;

export interface Sources {
  /** Answers with the files of the run's commit. */
  send(run: OpenRun, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply>;
  stop(): Promise<void>;
}

export function createSources(ctx: Context): Sources {
  const transfers = createTransfers(ctx);

  async function answer(
    run: OpenRun,
    request: FastifyRequest,
    reply: FastifyReply,
    end: Ending,
  ): Promise<FastifyReply> {
    const daemon = asServer(run.instance_id, run.workspace_id);
    end.call(await ctx.slots.taskSources.take(daemon, { signal: end.signal }));
    // Not `destroy`: the system would still deliver what it holds in the buffer of the socket.
    const { socket } = request.raw;
    const cut = (): void => void socket.resetAndDestroy();
    end.call(
      transfers.begin({
        key: String(run.id),
        isAllowed: () => isRunOpen(ctx.db, run.id),
        cut,
      }),
    );
    const archive = await archiveOf(ctx, run, end.signal);
    const idle = createIdleLimit(cut, IDLE_MS);
    end.call(idle.stop);
    end.call(leastRate.watchRequest(request.raw, reply.raw, cut));
    async function* watched(): AsyncGenerator<Buffer> {
      for await (const chunk of archive as AsyncIterable<Buffer>) {
        idle.touch();
        yield chunk;
      }
    }
    return reply.type('application/x-tar').send(Readable.from(watched(), { objectMode: false }));
  }

  return {
    async send(run, request, reply) {
      const end = endOf(request, reply);
      try {
        return await answer(run, request, reply, end);
      } catch (error) {
        // The client has left: there is nobody to tell.
        if (end.signal.aborted) return reply.hijack();
        throw error;
      }
    },
    stop: () => transfers.stop(GRACE_MS),
  };
}

interface Ending {
  /** Aborted when the answer is through or the client has left. */
  signal: AbortSignal;
  /** Calls it then, or now if that has passed. */
  call(action: () => void): void;
}

function endOf(request: FastifyRequest, reply: FastifyReply): Ending {
  const left = new AbortController();
  if (request.raw.socket.destroyed) left.abort();
  else reply.raw.once('close', () => left.abort());
  return {
    signal: left.signal,
    call(action) {
      if (left.signal.aborted) action();
      else left.signal.addEventListener('abort', action, { once: true });
    },
  };
}

async function archiveOf(ctx: Context, run: OpenRun, signal: AbortSignal): Promise<Readable> {
  const { repository } = await projectOf(ctx, run);
  const { dir, commit } = ctx.repositories.at(repository, asWorkspace(run.workspace_id));
  if (!(await commit(run.commit_sha)))
    throw new PublicError(422, text('Its commit is no longer in the repository of the project'));
  try {
    return await openArchive(dir, run.commit_sha, signal);
  } catch (error) {
    const invalid = error instanceof GitError ? /invalid path '(.*)'/.exec(error.stderr)?.[1] : undefined;
    if (invalid === undefined) throw error;
    throw new PublicError(422, text('The commit has a path that cannot be a file: {{path}}'), {
      values: { path: invalid },
      cause: error,
    });
  }
}
