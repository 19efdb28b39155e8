import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import fastifyWebsocket from '@fastify/websocket';
import { BODY_LIMIT } from '@stagi/contract/call.ts';
import { MAX_FRAME_BYTES } from '@stagi/contract/daemon.ts';
import Fastify, { type FastifyBaseLogger, type FastifyInstance, LogController } from 'fastify';
import { providerHandlers } from '../admin/providerRoutes.ts';
import { adminClientHandlers, adminSystemHandlers, adminUserHandlers } from '../admin/routes.ts';
import { analyticsHandlers } from '../analytics/routes.ts';
import { apiTokenHandlers } from '../apiTokens/routes.ts';
import { mountAppEndpoints } from '../apps/endpoints.ts';
import { appHandlers } from '../apps/routes.ts';
import { auditHandlers } from '../audit/routes.ts';
import { adminModelHandlers } from '../catalogue/adminRoutes.ts';
import { cataloguePage } from '../catalogue/pages.ts';
import { modelHandlers } from '../catalogue/routes.ts';
import { contactHandlers } from '../contact/routes.ts';
import { guardPortHosts, hideUrlsOfPorts } from '../containerAccess/hosts.ts';
import { containerAccessHandlers } from '../containerAccess/routes.ts';
import { containerHandlers } from '../containers/routes.ts';
import { containerTemplateHandlers } from '../containerTemplates/routes.ts';
import { mountWrittenFiles } from '../content/files.ts';
import { writtenPage } from '../content/pages.ts';
import { contentHandlers } from '../content/routes.ts';
import { guardContentHost } from '../contentHost/hosts.ts';
import { sharingHandlers } from '../contentHost/routes.ts';
import type { Context } from '../context.ts';
import { mountDaemonApi } from '../daemon-link/routes.ts';
import { mountEvents } from '../events/stream.ts';
import { feedbackHandlers } from '../feedback/routes.ts';
import { gettingStartedHandlers } from '../gettingStarted/routes.ts';
import type { Hosting } from '../gitHosting/hosting.ts';
import { GIT_PREFIX, mountGitHttp } from '../gitHosting/http.ts';
import { sendError } from '../http/errors.ts';
import type { Handlers } from '../http/handlers.ts';
import { isTooDeep, tooDeep } from '../http/nesting.ts';
import { isProxied } from '../http/portRequests.ts';
import { identityHandlers } from '../identities/routes.ts';
import { instanceHandlers } from '../instances/routes.ts';
import { inviteHandlers } from '../invites/routes.ts';
import { ledgerHandlers } from '../ledger/routes.ts';
import { loggingHandlers } from '../logging/routes.ts';
import { mountLogTail } from '../logging/tail.ts';
import { mountOutbox } from '../mail/outbox.ts';
import { hardwareHandlers, publicOfferHandlers } from '../marketplace/routes.ts';
import { billingHandlers } from '../metering/routes.ts';
import { measureCalls } from '../metrics/measureCalls.ts';
import { modelEndpointHandlers } from '../modelEndpoints/routes.ts';
import { mountPictures } from '../pictures/route.ts';
import { createPortProxy } from '../portProxy/proxy.ts';
import { projectCodeHandlers } from '../projectCode/routes.ts';
import { projectHandlers } from '../projects/routes.ts';
import { promoCodeHandlers } from '../promoCodes/routes.ts';
import { registryHandlers } from '../registries/routes.ts';
import { secondFactorHandlers } from '../secondFactor/routes.ts';
import { selfHostedHandlers } from '../selfHosted/routes.ts';
import { serverImageHandlers } from '../serverImages/routes.ts';
import { sessionHandlers } from '../sessions/routes.ts';
import { authHandlers } from '../signIn/routes.ts';
import { signUpLinkHandlers } from '../signUpLinks/routes.ts';
import { sshKeyHandlers } from '../sshKeys/routes.ts';
import { storageHandlers } from '../storages/routes.ts';
import { strayHandlers } from '../strays/routes.ts';
import { taskHandlers } from '../tasks/routes.ts';
import { mountTaskTransfer } from '../taskTransfer/routes.ts';
import { mountTerminals } from '../terminals/stream.ts';
import { transactionHandlers } from '../transactions/routes.ts';
import { usageHandlers } from '../usage/routes.ts';
import { metricsHandlers } from '../usageSamples/routes.ts';
import { accountHandlers } from '../users/accountRoutes.ts';
import { userHandlers } from '../users/routes.ts';
import { volumeFileHandlers } from '../volumeFiles/routes.ts';
import { isUpload, mountUploads } from '../volumeFiles/upload.ts';
import { clientHandlers } from '../workspaces/routes.ts';
import { mountCrawlerFiles } from './crawlers.ts';
import { mountDescription } from './description.ts';
import { mountHealth } from './health.ts';
import { refuseWhileHeld } from './held.ts';
import { daemonHostCheck, type HostCheck, refuseForeignHosts, webHostCheck } from './knownHosts.ts';
import { mount } from './mount.ts';
import { requestId, sendRequestId } from './requestId.ts';
import { limitRequestTime } from './requestTimeout.ts';
import { plainSecurityHeaders, securityHeaders } from './securityHeaders.ts';
import { serveWeb } from './webFiles.ts';

const handlers: Handlers = {
  auth: authHandlers,
  identities: identityHandlers,
  sessions: sessionHandlers,
  apps: appHandlers,
  secondFactor: secondFactorHandlers,
  user: userHandlers,
  gettingStarted: gettingStartedHandlers,
  account: accountHandlers,
  clients: clientHandlers,
  invites: inviteHandlers,
  billing: billingHandlers,
  transactions: transactionHandlers,
  usage: usageHandlers,
  promoCodes: promoCodeHandlers,
  signUpLinks: signUpLinkHandlers,
  ledger: ledgerHandlers,
  hardware: hardwareHandlers,
  publicOffers: publicOfferHandlers,
  models: modelHandlers,
  content: contentHandlers,
  modelEndpoints: modelEndpointHandlers,
  instances: instanceHandlers,
  selfHosted: selfHostedHandlers,
  containers: containerHandlers,
  containerAccess: containerAccessHandlers,
  containerTemplates: containerTemplateHandlers,
  serverImages: serverImageHandlers,
  registries: registryHandlers,
  volumeFiles: volumeFileHandlers,
  logging: loggingHandlers,
  metrics: metricsHandlers,
  storages: storageHandlers,
  sharing: sharingHandlers,
  projects: projectHandlers,
  projectCode: projectCodeHandlers,
  tasks: taskHandlers,
  sshKeys: sshKeyHandlers,
  apiTokens: apiTokenHandlers,
  strays: strayHandlers,
  providers: providerHandlers,
  feedback: feedbackHandlers,
  contact: contactHandlers,
  analytics: analyticsHandlers,
  audit: auditHandlers,
  adminUsers: adminUserHandlers,
  adminClients: adminClientHandlers,
  adminModels: adminModelHandlers,
  adminSystem: adminSystemHandlers,
};

/** The server for browsers, command lines and daemons. */
export async function buildApp(ctx: Context, hosting: Hosting): Promise<FastifyInstance> {
  const refusalOf = webHostCheck(ctx);
  const app = await createServer(ctx, refusalOf);
  securityHeaders(app, ctx.config);
  refuseForeignHosts(app, refusalOf);
  guardPortHosts(app, ctx, createPortProxy(app, ctx));
  guardContentHost(app, ctx);
  if (ctx.heldSince) refuseWhileHeld(app);
  mount(app, ctx, handlers);
  mountPictures(app, ctx);
  mountAppEndpoints(app, ctx);
  mountEvents(app, ctx);
  mountLogTail(app, ctx);
  mountTerminals(app, ctx);
  mountUploads(app, ctx);
  mountDaemonApi(app, ctx);
  mountTaskTransfer(app, ctx);
  mountGitHttp(app, hosting);
  if (ctx.config.devMail) mountOutbox(app, ctx);
  mountDescription(app);
  mountHealth(app, ctx);
  mountWrittenFiles(app, ctx);
  mountCrawlerFiles(app, ctx);
  await serveWeb(app, ctx.config, [writtenPage, (...page) => cataloguePage(ctx, ...page)]);
  return app;
}

/** The server that rented machines reach: they are untrusted, so it has the daemon's calls only. */
export async function buildDaemonApp(ctx: Context): Promise<FastifyInstance> {
  const refusalOf = daemonHostCheck(ctx);
  const app = await createServer(ctx, refusalOf);
  app.setErrorHandler(sendError);
  plainSecurityHeaders(app);
  refuseForeignHosts(app, refusalOf);
  mountDaemonApi(app, ctx);
  mountTaskTransfer(app, ctx);
  return app;
}

/** On a graceful shutdown calls in progress have this long to end. */
const GRACEFUL_SHUTDOWN_MS = 5_000;
/** How often requests that are sent too slowly are looked for. */
const SLOW_SENDER_CHECK_MS = 5_000;

async function createServer(ctx: Context, refusalOf: HostCheck): Promise<FastifyInstance> {
  const app = Fastify({
    loggerInstance: ctx.log as FastifyBaseLogger,
    logController: new LogController({ disableRequestLogging: true }),
    trustProxy: ctx.config.trustProxy,
    rewriteUrl: hideUrlsOfPorts(ctx.config),
    frameworkErrors: (error, request, reply) => sendError(refusalOf(request.raw) ?? error, request, reply),
    bodyLimit: BODY_LIMIT,
    // See `limitRequestTime`.
    requestTimeout: 0,
    keepAliveTimeout: 65_000,
    http: {
      headersTimeout: 15_000,
      connectionsCheckingInterval: SLOW_SENDER_CHECK_MS,
      // Other protocols, such as `h2c`, are not spoken: such a request is answered as if it had not asked for them.
      shouldUpgradeCallback: ({ headers }: IncomingMessage) => headers.upgrade?.toLowerCase() === 'websocket',
    },
    // Calls on keep-alive connections are served during a shutdown (see `shutDownGracefully`).
    return503OnClosing: false,
    forceCloseConnections: 'idle',
    genReqId: requestId(ctx.config.trustProxy),
  });
  limitRequestTime(
    app.server,
    (request) => (request.url ?? '').startsWith(GIT_PREFIX) || isUpload(request.url ?? '') || isProxied(request),
  );
  // Against CSRF: no call reads a body that a form of another site can send without a preflight.
  app.removeContentTypeParser('text/plain');
  refuseDeepJson(app);
  keepOutOfCaches(app);
  sendRequestId(app);
  await app.register(fastifyWebsocket, {
    options: { maxPayload: MAX_FRAME_BYTES, perMessageDeflate: false },
    // Each kind of stream closes itself in its own `preClose`; the default would cut them off before that.
    preClose: (done) => done(),
  });
  shutDownGracefully(app);
  measureCalls(app, ctx.meters);
  return app;
}

function refuseDeepJson(app: FastifyInstance): void {
  const parse = app.getDefaultJsonParser('error', 'error');
  app.addContentTypeParser<string>('application/json', { parseAs: 'string' }, (request, body, done) => {
    if (isTooDeep(body)) done(tooDeep());
    else void parse(request, body, done);
  });
}

/** An answer that does not say how it may be kept may concern one person only. */
function keepOutOfCaches(app: FastifyInstance): void {
  app.addHook('onSend', (_request, reply, payload, done) => {
    if (!reply.hasHeader('cache-control')) reply.header('cache-control', 'no-store');
    done(null, payload);
  });
}

/** Graceful shutdown: calls in progress end, with `Connection: close`; what is left after the time is cut off. */
function shutDownGracefully(app: FastifyInstance): void {
  let isStopping = false;
  // The server does not count them among its connections, and still waits for them.
  const upgraded = new Set<Duplex>();
  app.server.on('upgrade', (_request: IncomingMessage, socket: Duplex) => {
    upgraded.add(socket);
    socket.once('close', () => upgraded.delete(socket));
  });
  app.addHook('preClose', async () => {
    isStopping = true;
    // The timer outlives the server: connections that other sockets took for it may end later than it closes.
    setTimeout(() => {
      app.server.closeAllConnections();
      for (const socket of upgraded) socket.destroy();
    }, GRACEFUL_SHUTDOWN_MS).unref();
  });
  app.addHook('onSend', (_request, reply, payload, done) => {
    if (isStopping) reply.header('connection', 'close');
    done(null, payload);
  });
}
