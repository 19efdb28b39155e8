import fastifyWebsocket from '@fastify/websocket';
import { BODY_LIMIT } from '@stagi/contract/call.ts';
import { MAX_FRAME_BYTES } from '@stagi/contract/daemon.ts';
import { openapi } from '@stagi/contract/openapi.ts';
import Fastify, { type FastifyBaseLogger, type FastifyInstance, LogController } from 'fastify';
import { providerHandlers } from '../admin/providerRoutes.ts';
import { adminClientHandlers, adminUserHandlers } from '../admin/routes.ts';
import { analyticsHandlers } from '../analytics/routes.ts';
import { apiTokenHandlers } from '../apiTokens/routes.ts';
import { mountAppEndpoints } from '../apps/endpoints.ts';
import { appHandlers } from '../apps/routes.ts';
import { auditHandlers } from '../audit/routes.ts';
import { identityHandlers } from '../auth/identityRoutes.ts';
import { authHandlers } from '../auth/routes.ts';
import { secondFactorHandlers } from '../auth/secondFactorRoutes.ts';
import { sessionHandlers } from '../auth/sessionRoutes.ts';
import { billingHandlers } from '../billing/routes.ts';
import { guardPortHosts } from '../containerAccess/hosts.ts';
import { containerAccessHandlers } from '../containerAccess/routes.ts';
import { containerHandlers } from '../containers/routes.ts';
import type { Context } from '../context.ts';
import { mountDaemonApi } from '../daemon-link/routes.ts';
import { mountEvents } from '../events/stream.ts';
import { feedbackHandlers } from '../feedback/routes.ts';
import { instanceHandlers } from '../instances/routes.ts';
import { inviteHandlers } from '../invites/routes.ts';
import { ledgerHandlers } from '../ledger/routes.ts';
import { loggingHandlers } from '../logging/routes.ts';
import { mountLogTail } from '../logging/tail.ts';
import { mountOutbox } from '../mail/outbox.ts';
import { hardwareHandlers } from '../marketplace/routes.ts';
import { measureCalls } from '../metrics/calls.ts';
import { promoCodeHandlers } from '../promoCodes/routes.ts';
import { selfHostedHandlers } from '../selfHosted/routes.ts';
import { shownSite } from '../site.ts';
import { sshKeyHandlers } from '../sshKeys/routes.ts';
import { strayHandlers } from '../strays/routes.ts';
import { transactionHandlers } from '../transactions/routes.ts';
import { usageHandlers } from '../usage/routes.ts';
import { accountHandlers } from '../users/accountRoutes.ts';
import { mountPictures } from '../users/pictureRoute.ts';
import { userHandlers } from '../users/routes.ts';
import { clientHandlers } from '../workspaces/routes.ts';
import { sendError } from './errors.ts';
import { mountHealth } from './health.ts';
import { type Handlers, mount } from './mount.ts';
import { openGate } from './overload.ts';
import { requestId, tellRequestId } from './requestId.ts';
import { securityHeaders } from './securityHeaders.ts';
import { serveWeb } from './web.ts';

const handlers: Handlers = {
  auth: authHandlers,
  identities: identityHandlers,
  sessions: sessionHandlers,
  apps: appHandlers,
  secondFactor: secondFactorHandlers,
  user: userHandlers,
  account: accountHandlers,
  clients: clientHandlers,
  invites: inviteHandlers,
  billing: billingHandlers,
  transactions: transactionHandlers,
  usage: usageHandlers,
  promoCodes: promoCodeHandlers,
  ledger: ledgerHandlers,
  hardware: hardwareHandlers,
  instances: instanceHandlers,
  selfHosted: selfHostedHandlers,
  containers: containerHandlers,
  containerAccess: containerAccessHandlers,
  logging: loggingHandlers,
  sshKeys: sshKeyHandlers,
  apiTokens: apiTokenHandlers,
  strays: strayHandlers,
  providers: providerHandlers,
  feedback: feedbackHandlers,
  analytics: analyticsHandlers,
  audit: auditHandlers,
  adminUsers: adminUserHandlers,
  adminClients: adminClientHandlers,
};

/** Everything a browser and a command line talk to; daemons too. */
export async function buildApp(ctx: Context): Promise<FastifyInstance> {
  const app = await bare(ctx);
  securityHeaders(app, ctx.config);
  guardPortHosts(app, ctx);
  const gate = openGate(ctx.meters);
  mount(app, ctx, handlers, gate);
  mountPictures(app, ctx);
  mountAppEndpoints(app, ctx, gate);
  mountEvents(app, ctx);
  mountLogTail(app, ctx);
  mountDaemonApi(app, ctx);
  if (ctx.config.devMail) mountOutbox(app, ctx);
  app.get('/openapi.json', () => openapi());
  mountHealth(app, ctx);
  await serveWeb(app, ctx.config.webDir, shownSite(ctx.config));
  return app;
}

/** What a rented machine may reach: a machine is a stranger, so nothing but the daemon's calls is here. */
export async function buildDaemonApp(ctx: Context): Promise<FastifyInstance> {
  const app = await bare(ctx);
  app.setErrorHandler(sendError);
  mountDaemonApi(app, ctx);
  return app;
}

/** A call that is being answered when the platform stops has so long to end. */
const LAST_CALLS_MS = 5_000;
/** How soon a sender that is too slow is noticed. */
const LOOK_FOR_SLOW_MS = 5_000;

async function bare(ctx: Context): Promise<FastifyInstance> {
  const app = Fastify({
    loggerInstance: ctx.log as FastifyBaseLogger,
    logController: new LogController({ disableRequestLogging: true }),
    trustProxy: ctx.config.trustProxy,
    bodyLimit: BODY_LIMIT,
    requestTimeout: 30_000,
    keepAliveTimeout: 65_000,
    http: { headersTimeout: 15_000, connectionsCheckingInterval: LOOK_FOR_SLOW_MS },
    // Calls on kept-alive connections are served to the end (see `endGently`).
    return503OnClosing: false,
    forceCloseConnections: 'idle',
    genReqId: requestId(ctx.config.trustProxy),
  });
  // What a form of another site can send without asking first is read by no call.
  app.removeContentTypeParser('text/plain');
  tellRequestId(app);
  await app.register(fastifyWebsocket, {
    options: { maxPayload: MAX_FRAME_BYTES, perMessageDeflate: false },
    // Each kind of stream says goodbye in its own way (their `preClose`); here all would be cut off before that.
    preClose: (done) => done(),
  });
  endGently(app);
  measureCalls(app, ctx.meters);
  return app;
}

/** A stop lets the calls in hand end, and tells each that its connection closes behind it. */
function endGently(app: FastifyInstance): void {
  let isStopping = false;
  app.addHook('preClose', async () => {
    isStopping = true;
    const impatience = setTimeout(() => app.server.closeAllConnections(), LAST_CALLS_MS);
    app.server.once('close', () => clearTimeout(impatience));
  });
  app.addHook('onSend', (_request, reply, payload, done) => {
    if (isStopping) reply.header('connection', 'close');
    done(null, payload);
  });
}
