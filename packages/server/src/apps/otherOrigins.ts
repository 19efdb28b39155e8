import type { FastifyInstance } from 'fastify';

const ANY = { 'access-control-allow-origin': '*' };
const READABLE = { ...ANY, 'access-control-expose-headers': 'Retry-After, X-Request-Id' };
/**
 * A form of a public app needs no leave. `Authorization` is not among the headers: what could be sent with it is the
 * secret of an app, which has no place in a browser.
 */
const LEAVE = {
  ...ANY,
  'access-control-allow-methods': 'POST',
  'access-control-allow-headers': 'Content-Type',
  'access-control-max-age': '7200',
};

/**
 * Apps that run in a browser trade their codes from pages of their own (OAuth 2.0 for Browser-Based Applications): any
 * origin may read the answers. Nothing here goes by a cookie, and `*` keeps browsers from sending one.
 */
export function letOtherOriginsIn(scope: FastifyInstance, paths: readonly string[]): void {
  for (const path of paths) scope.options(path, (_request, reply) => reply.headers(LEAVE).code(204).send());
  scope.addHook('onRequest', (request, reply, done) => {
    if (request.method !== 'OPTIONS') reply.headers(READABLE);
    done();
  });
}
