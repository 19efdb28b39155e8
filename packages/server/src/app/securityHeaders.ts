import type { FastifyInstance } from 'fastify';
import type { Config } from '../config/config.ts';
import { createHostReader } from '../http/hostOf.ts';
import { NO_PAGE, STRICT_TRANSPORT } from '../http/plainHeaders.ts';

const csp = ({ s3Origin, contentOrigin }: Config, sockets: string): string =>
  [
    "default-src 'self'",
    "script-src 'self'",
    "style-src 'self' 'unsafe-inline'",
    `img-src 'self' data: blob: ${contentOrigin}`,
    `media-src 'self' ${contentOrigin}`,
    // Not every browser takes 'self' for web sockets. Objects go straight to the S3 service.
    `connect-src 'self' ${s3Origin} ${sockets}`,
    // Content of users is shown from an origin of its own.
    `frame-src ${contentOrigin}`,
    "object-src 'none'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ].join('; ');

/** A host that adds nothing else to a policy. */
const HOST = /^(?:[a-z0-9_.-]{1,253}|\[[0-9a-f:.]{2,45}\])(?::\d{1,5})?$/;

/** For the daemon's listener, where no page is. */
export function plainSecurityHeaders(app: FastifyInstance): void {
  app.addHook('onRequest', (_request, reply, done) => {
    reply.headers(NO_PAGE);
    done();
  });
}

/** Tokens are in web storage, so no foreign script may ever run on a page. */
export function securityHeaders(app: FastifyInstance, config: Config): void {
  const hostOf = createHostReader(config);
  const { host: appHost, protocol } = new URL(config.appOrigin);
  const ofApp = `${protocol === 'https:' ? 'wss' : 'ws'}://${appHost}`;
  const headers = {
    'content-security-policy': csp(config, ofApp),
    'x-content-type-options': 'nosniff',
    'referrer-policy': 'same-origin',
    'cross-origin-opener-policy': 'same-origin',
    'cross-origin-resource-policy': 'same-origin',
  };
  const isSecure = protocol === 'https:';
  app.addHook('onRequest', (request, reply, done) => {
    reply.headers(headers);
    // On the raw answer, so that those of git and of ports of containers have it, too.
    if (isSecure) reply.raw.setHeader('strict-transport-security', STRICT_TRANSPORT);
    const host = hostOf(request.raw);
    // Pages are also served at names of ALLOWED_HOSTS, with TLS or without. The host is the visitor's word.
    if (host !== appHost && HOST.test(host))
      reply.header('content-security-policy', csp(config, `${ofApp} ws://${host} wss://${host}`));
    done();
  });
}
