import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { FastifyInstance } from 'fastify';
import type { Context } from '../context.ts';
import { PublicError } from '../http/errors.ts';

export const ARCHIVE = 'stagid-linux-x64.tar.gz';
const INSTALL_SCRIPT = join(import.meta.dirname, 'install/install.sh');
const BUILD_TAKES_S = 15;

type Place = Pick<Context, 'daemonOrigin' | 'config'>;

/** The daemon and what installs it, for machines: public, nothing in it is secret. */
export function mountDownloads(app: FastifyInstance, ctx: Place): void {
  app.get('/daemon-api/install.sh', async (_, reply) => {
    const { text } = await installScript(ctx);
    return reply.type('text/x-shellscript; charset=utf-8').header('cache-control', 'no-store').send(text);
  });
  app.get(`/daemon-api/${ARCHIVE}.sha256`, async (_, reply) => {
    return reply.type('text/plain; charset=utf-8').send(`${await archiveSha256(ctx)}  ${ARCHIVE}\n`);
  });
  app.get(`/daemon-api/${ARCHIVE}`, async (_, reply) => {
    await archiveSha256(ctx);
    const path = join(ctx.config.daemonDir, ARCHIVE);
    const { size } = await stat(path);
    return reply.type('application/gzip').header('content-length', size).send(createReadStream(path));
  });
}

/**
 * The install script with this platform's address and the archive's checksum in it, and its own checksum. Throws 503
 * while the daemon is being built.
 */
export async function installScript(ctx: Place): Promise<{ text: string; sha256: string }> {
  const archive = await archiveSha256(ctx);
  const template = await readFile(INSTALL_SCRIPT, 'utf8');
  const text = template.replaceAll('@ORIGIN@', ctx.daemonOrigin).replaceAll('@SHA256@', archive);
  return { text, sha256: createHash('sha256').update(text).digest('hex') };
}

/** The checksum file is written last: while it is missing there is nothing whole to serve. */
async function archiveSha256(ctx: Place): Promise<string> {
  let text: string;
  try {
    text = await readFile(join(ctx.config.daemonDir, `${ARCHIVE}.sha256`), 'utf8');
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code !== 'ENOENT') throw cause;
    throw new PublicError(503, 'The daemon is still being built. Try again in a moment.', {
      retryAfter: BUILD_TAKES_S,
      cause,
    });
  }
  const sha256 = /^[0-9a-f]{64}/.exec(text)?.[0];
  if (!sha256) throw new Error(`${ARCHIVE}.sha256 holds no checksum`);
  return sha256;
}
