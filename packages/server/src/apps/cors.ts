import type { FastifyInstance } from 'fastify';

const ANY = { 'access-control-allow-origin': '*' };
const READABLE = { ...ANY, 'access-control-expose-headers': 'Retry-After, X-Request-Id' };
/**
 * The answer to a preflight. `Authorization` is not among the headers: it would carry an app's secret, which does not
 * belong in a browser.
 */
const PREFLIGHT = {
  ...ANY,
  'access-control-allow-methods': 'POST',
  'access-control-allow-headers': 'Content-Type',
  'access-control-max-age': '7200',
};

/**
 * CORS for apps that run in a browser and exchange codes from their own pages (OAuth 2.0 for Browser-Based Applications):
 * any origin may read the answers. No cookie is used here, and with `*` browsers send none.
 */
export function allowCors(scope: FastifyInstance, paths: readonly string[]): void {
  for (const path of paths) scope.options(path, (_request, reply) => reply.headers(PREFLIGHT).code(204).send());
  scope.addHook('onRequest', (request, reply, done) => {
    if (request.method !== 'OPTIONS') reply.headers(READABLE);
    done();
  });
}
