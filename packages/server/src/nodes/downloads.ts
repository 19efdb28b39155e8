import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { text } from '@stagi/contract/text.ts';
import type { FastifyInstance } from 'fastify';
import type { Context } from '../context.ts';
import { PublicError } from '../http/errors.ts';
import { asStranger } from '../slots/holder.ts';
import { holdForAnswer } from '../slots/holdForAnswer.ts';

export const ARCHIVE = 'stagid-linux-x64.tar.gz';
const INSTALL_SCRIPT = join(import.meta.dirname, 'install/install.sh');
const RETRY_AFTER_S = 15;

type Ctx = Pick<Context, 'daemonOrigin' | 'config'>;

/** Serves the daemon and its install script. Public, as nothing in them is secret. */
export function mountDownloads(app: FastifyInstance, ctx: Ctx & Pick<Context, 'slots'>): void {
  app.get('/daemon-api/install.sh', async (_, reply) => {
    const { text } = await installScript(ctx);
    return reply.type('text/x-shellscript; charset=utf-8').header('cache-control', 'no-store').send(text);
  });
  app.get(`/daemon-api/${ARCHIVE}.sha256`, async (_, reply) => {
    return reply.type('text/plain; charset=utf-8').send(`${await archiveSha256(ctx)}  ${ARCHIVE}\n`);
  });
  app.get(`/daemon-api/${ARCHIVE}`, async (request, reply) => {
    await archiveSha256(ctx);
    holdForAnswer(request, reply, ctx.slots.contentReads, asStranger(request.ip));
    const path = join(ctx.config.daemonDir, ARCHIVE);
    const { size } = await stat(path);
    return reply.type('application/gzip').header('content-length', size).send(createReadStream(path));
  });
}

/**
 * The install script, which contains this platform's address and the archive's checksum, and its own checksum. Throws 503
 * while the daemon is being built.
 */
export async function installScript(ctx: Ctx): Promise<{ text: string; sha256: string }> {
  const archive = await archiveSha256(ctx);
  const template = await readFile(INSTALL_SCRIPT, 'utf8');
  const text = template.replaceAll('@ORIGIN@', ctx.daemonOrigin).replaceAll('@SHA256@', archive);
  return { text, sha256: createHash('sha256').update(text).digest('hex') };
}

/** The build writes the checksum file last: without it the archive is not complete. */
async function archiveSha256(ctx: Ctx): Promise<string> {
  let content: string;
  try {
    content = await readFile(join(ctx.config.daemonDir, `${ARCHIVE}.sha256`), 'utf8');
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code !== 'ENOENT') throw cause;
    throw new PublicError(503, text('The agent is still being built. Try again in a moment.'), {
      retryAfter: RETRY_AFTER_S,
      cause,
    });
  }
  const sha256 = /^[0-9a-f]{64}/.exec(content)?.[0];
  if (!sha256) throw new Error(`${ARCHIVE}.sha256 holds no checksum`);
  return sha256;
}
