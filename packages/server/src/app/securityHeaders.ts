import type { FastifyInstance } from 'fastify';
import type { Config } from '../config/config.ts';

const csp = ({ s3Origin, contentOrigin }: Config): string =>
  [
    "default-src 'self'",
    "script-src 'self'",
    "style-src 'self' 'unsafe-inline'",
    `img-src 'self' data: blob: ${contentOrigin}`,
    `media-src 'self' ${contentOrigin}`,
    // Objects go straight to the S3 service, and what users made is shown from the content host.
    `connect-src 'self' ${s3Origin} ws: wss:`,
    `frame-src ${contentOrigin}`,
    "object-src 'none'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ].join('; ');

/** Tokens are in web storage, so no foreign script may ever run on a page. */
export function securityHeaders(app: FastifyInstance, config: Config): void {
  const headers = {
    'content-security-policy': csp(config),
    'x-content-type-options': 'nosniff',
    'referrer-policy': 'same-origin',
    'cross-origin-opener-policy': 'same-origin',
    ...(config.appOrigin.startsWith('https:')
      ? { 'strict-transport-security': 'max-age=31536000; includeSubDomains' }
      : {}),
  };
  app.addHook('onRequest', (_request, reply, done) => {
    reply.headers(headers);
    done();
  });
}
