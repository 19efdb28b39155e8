import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { type RegisteredApp, verifyClientSecret } from '../config/registeredApps.ts';
import type { Context } from '../context.ts';
import { PublicError, sendError } from '../http/errors.ts';
import { goneOf } from '../http/gone.ts';
import { userAgentOf } from '../http/userAgent.ts';
import { createCallSlots } from '../slots/callSlots.ts';
import { asStranger } from '../slots/holder.ts';
import { allowCors } from './cors.ts';
import { OauthError } from './oauthError.ts';
import { type AppVisitor, exchangeAuthorizationCode, exchangeRefreshToken, revokeToken } from './tokens.ts';

const FORM = 'application/x-www-form-urlencoded';
const LONGEST_FORM = 8 * 1024;

/** The OAuth endpoints that apps call: they take forms and are no calls of the contract. */
export function mountAppEndpoints(app: FastifyInstance, ctx: Context): void {
  const slots = createCallSlots(ctx.slots.calls, ctx.meters);
  void app.register(async (scope) => {
    allowCors(scope, []);
    scope.get('/.well-known/oauth-authorization-server', () => metadata(ctx.config.appOrigin));
  });
  void app.register(async (scope) => {
    allowCors(scope, ['/oauth/token', '/oauth/revoke']);
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser(FORM, { parseAs: 'string', bodyLimit: LONGEST_FORM }, (_request, body, done) =>
      done(null, new URLSearchParams(body as string)),
    );
    scope.setErrorHandler((error, request, reply) => sendError(toOauthError(error), request, reply));
    scope.addHook('onRequest', (_request, reply, done) => {
      // RFC 6749 5.1.
      reply.headers({ 'cache-control': 'no-store', pragma: 'no-cache' });
      done();
    });
    scope.post('/oauth/token', (request, reply) =>
      slots.pass(asStranger(request.ip), goneOf(reply.raw), () => token(ctx, request, reply)),
    );
    scope.post('/oauth/revoke', (request, reply) =>
      slots.pass(asStranger(request.ip), goneOf(reply.raw), () => revoke(ctx, request, reply)),
    );
  });
}

/** RFC 8414. */
function metadata(origin: string) {
  const auth = ['none', 'client_secret_basic', 'client_secret_post'];
  return {
    issuer: origin,
    authorization_endpoint: `${origin}/sign-in`,
    token_endpoint: `${origin}/oauth/token`,
    revocation_endpoint: `${origin}/oauth/revoke`,
    response_types_supported: ['code'],
    response_modes_supported: ['query'],
    grant_types_supported: ['authorization_code', 'refresh_token'],
    code_challenge_methods_supported: ['S256'],
    token_endpoint_auth_methods_supported: auth,
    revocation_endpoint_auth_methods_supported: auth,
    authorization_response_iss_parameter_supported: true,
  };
}

async function token(ctx: Context, request: FastifyRequest, reply: FastifyReply): Promise<unknown> {
  const form = formOf(request);
  const app = clientOf(ctx, form, request, reply);
  const grant = form.required('grant_type');
  switch (grant) {
    case 'authorization_code':
      return exchangeAuthorizationCode(visitorOf(ctx, request), app, {
        code: form.required('code'),
        verifier: form.required('code_verifier'),
        redirectUri: form.optional('redirect_uri'),
      });
    case 'refresh_token':
      return exchangeRefreshToken(visitorOf(ctx, request), app, form.required('refresh_token'));
    default:
      throw new OauthError('unsupported_grant_type', 'Only authorization_code and refresh_token are known');
  }
}

async function revoke(ctx: Context, request: FastifyRequest, reply: FastifyReply): Promise<unknown> {
  const form = formOf(request);
  const app = clientOf(ctx, form, request, reply);
  await revokeToken(visitorOf(ctx, request), app, form.required('token'));
  return {};
}

interface Form {
  required(name: string): string;
  optional(name: string): string | null;
}

/** RFC 6749 3.2: no parameter may repeat, and an empty one counts as left out. */
function formOf({ body }: FastifyRequest): Form {
  const params = body instanceof URLSearchParams ? body : new URLSearchParams();
  const optional = (name: string): string | null => {
    const given = params.getAll(name);
    if (given.length > 1) throw new OauthError('invalid_request', `${name} is given twice`);
    return given[0] || null;
  };
  const required = (name: string): string => {
    const value = optional(name);
    if (value === null) throw new OauthError('invalid_request', `${name} is missing`);
    return value;
  };
  return { optional, required };
}

/** Client authentication (RFC 6749 2.3.1): by HTTP Basic or in the form, not both. */
function clientOf(ctx: Context, form: Form, request: FastifyRequest, reply: FastifyReply): RegisteredApp {
  const { authorization } = request.headers;
  const basic = authorization === undefined ? null : basicOf(authorization);
  const posted = form.optional('client_id');
  const secret = form.optional('client_secret');
  if (basic && (secret !== null || (posted !== null && posted !== basic.id)))
    throw new OauthError('invalid_request', 'The app names itself twice');
  const id = basic ? basic.id : posted;
  const app = id === null ? undefined : ctx.config.apps.get(id);
  if (app && verifyClientSecret(app, basic ? basic.secret || null : secret)) return app;
  if (authorization !== undefined) {
    void reply.header('www-authenticate', 'Basic realm="oauth"');
    throw new OauthError('invalid_client', 'The app is not known or has not proved itself', 401);
  }
  if (id === null) throw new OauthError('invalid_request', 'client_id is missing');
  throw new OauthError('invalid_client', 'The app is not known or has not proved itself', 401);
}

function basicOf(authorization: string): { id: string; secret: string } | null {
  const encoded = /^Basic ([A-Za-z0-9+/]+=*)$/i.exec(authorization)?.[1];
  if (!encoded) return null;
  const text = Buffer.from(encoded, 'base64').toString('utf8');
  const colon = text.indexOf(':');
  if (colon < 0) return null;
  try {
    const decode = (part: string) => decodeURIComponent(part.replaceAll('+', ' '));
    return { id: decode(text.slice(0, colon)), secret: decode(text.slice(colon + 1)) };
  } catch {
    // Not form-encoded.
    return null;
  }
}

const visitorOf = (ctx: Context, request: FastifyRequest): AppVisitor => ({
  ...ctx,
  ip: request.ip,
  userAgent: userAgentOf(request.headers),
});

/** A request that cannot be parsed is an OAuth `invalid_request`; our own failures stay as they are. */
function toOauthError(error: unknown): unknown {
  if (error instanceof PublicError) return error;
  const { statusCode } = (error ?? {}) as { statusCode?: number };
  const isTheirs = statusCode !== undefined && statusCode >= 400 && statusCode < 500;
  return isTheirs ? new OauthError('invalid_request', `The request must be a form (${FORM})`) : error;
}
