import { existsSync } from 'node:fs';
import { join } from 'node:path';
import fastifyStatic from '@fastify/static';
import type { FastifyInstance } from 'fastify';

const NOT_PAGES = /^\/(frontend-api|daemon-api|dev|assets|openapi\.json|healthz|readyz)(\/|$)/;

/** The built web app: hashed files for a year, and its one page for every address that is none of ours. */
export async function serveWeb(app: FastifyInstance, webDir: string | null): Promise<void> {
  if (webDir && existsSync(join(webDir, 'index.html'))) {
    await app.register(fastifyStatic, {
      root: webDir,
      index: false,
      setHeaders(reply, path) {
        reply.header(
          'cache-control',
          path.includes(`${webDir}/assets/`) ? 'public, max-age=31536000, immutable' : 'no-cache',
        );
      },
    });
    app.get('/', (_request, reply) => reply.sendFile('index.html'));
  }
  app.setNotFoundHandler((request, reply) => {
    const isPage = request.method === 'GET' && !NOT_PAGES.test(request.url.split('?')[0] ?? '');
    if (isPage && webDir && existsSync(join(webDir, 'index.html'))) return reply.sendFile('index.html');
    return reply.status(404).send({ isSuccess: false, message: 'Not found', requestId: request.id });
  });
}
