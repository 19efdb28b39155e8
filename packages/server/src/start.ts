import type { FastifyInstance } from 'fastify';
import type { Logger } from 'pino';
import { startProviderCheckWorker } from './admin/providerCheck.ts';
import { startAnalyticsWorker } from './analytics/forwardEvent.ts';
import { buildApp, buildDaemonApp } from './app/app.ts';
import { startAuditCheckWorker } from './audit/checks.ts';
import { openSystemAccounts } from './billing/accounts.ts';
import { createBus, listen } from './bus/bus.ts';
import { startCleanUp } from './cleanUp.ts';
import { type Clouds, connectClouds, nameClouds } from './clouds.ts';
import type { Config } from './config/config.ts';
import { ConfigError } from './config/configError.ts';
import { isEveryAddress } from './config/listenHost.ts';
import { startContainerWorker } from './containers/worker.ts';
import type { Context } from './context.ts';
import { startCommandRetention } from './daemon-link/commandRetention.ts';
import { startEmbeddedPostgres } from './db/embedded.ts';
import { memberUrl, requireMemberRole } from './db/memberRole.ts';
import { MIGRATIONS, NewerDatabase } from './db/migrate.ts';
import { openPool } from './db/pool.ts';
import { withinWorkspace } from './db/withinWorkspace.ts';
import { startFileWorker } from './files/worker.ts';
import { openRepositories } from './git/repositories.ts';
import { createHosting } from './gitHosting/hosting.ts';
import { createImporter } from './gitHosting/importRepository.ts';
import { startGitMaintenance } from './gitHosting/maintenance.ts';
import { serveGitSsh } from './gitHosting/ssh.ts';
import { listenAt, type StopAccepting } from './http/listenAt.ts';
import { type Opened, openInstallation, refuseSecondDatabase } from './installation/open.ts';
import { startInstanceWorker } from './instances/worker.ts';
import { type RunningQueue, startQueue } from './jobs/queue.ts';
import { startLedgerWorker } from './ledger/worker.ts';
import { openLog } from './log.ts';
import { startLogBucketWorker } from './logBucket/worker.ts';
import { startLogRetention } from './logging/worker.ts';
import { startMailWorker } from './mail/send.ts';
import { startMeteringWorker } from './metering/worker.ts';
import { serveMetrics } from './metrics/metricsServer.ts';
import { createPrometheusCollector } from './metrics/prometheus.ts';
import { startEngineWatch, startModelEndpointWorker } from './modelEndpoints/worker.ts';
import { createStreamHub } from './nodes/streamHub.ts';
import { serveObjects } from './objects/serve.ts';
import { openStores } from './objects/stores.ts';
import { startImportWorker } from './projects/importWorker.ts';
import { startProjectWorker } from './projects/worker.ts';
import type { Readiness } from './providers/provider.ts';
import { registerWorker } from './reconcile/workerRegistry.ts';
import { createSecretBox, loadSecretKey } from './secrets/secretBox.ts';
import { startSelfHostedWorker } from './selfHosted/worker.ts';
import { loadSigningKeys } from './sessions/signingKeys.ts';
import { createSharedSlots } from './slots/sharedSlots.ts';
import { startStorageWorker } from './storages/worker.ts';
import { startStraySweep } from './strays/worker.ts';
import { startScheduleWorker } from './tasks/schedulesWorker.ts';
import { startTaskWorker } from './tasks/worker.ts';
import { startTerminalWorker } from './terminals/worker.ts';
import { startUsageSampleWorker } from './usageSamples/worker.ts';

export interface Running {
  ctx: Context;
  app: FastifyInstance | null;
  /** Stops everything this process started, newest first. */
  stop(): Promise<void>;
}

/**
 * Runs one step of the start and reports it: first `doing`, then `done` of its result. `missing` is no failure: the
 * platform runs without that part.
 */
export type Step = <T>(
  doing: string,
  done: (result: T) => string | { missing: string },
  work: () => Promise<T>,
) => Promise<T>;

type Stop = () => Promise<unknown>;

const unreported: Step = (_doing, _done, work) => work();

/** Starts the platform: database, queue, clouds, the HTTP servers and the loops of this process's roles. */
export async function start(configured: Config, step: Step = unreported): Promise<Running> {
  const meters = createPrometheusCollector();
  const log = openLog(configured, meters);
  const stops: Stop[] = [async () => meters.stop()];
  const stop = async (): Promise<void> => {
    for (const end of stops.splice(0).reverse()) {
      await end().catch((error: unknown) => log.warn({ err: error }, 'while stopping'));
    }
  };
  try {
    refuseSecondDatabase(configured);
    const databaseUrl = configured.databaseUrl ?? (await embedded());
    const { config, installation, migrations } = await step('Migrating the database', migrationsDone, () =>
      openOrExplain(databaseUrl, configured),
    );
    // A new database has all of them, which nobody needs to read.
    if (migrations.length < MIGRATIONS.length)
      for (const migration of migrations) log.info(migration, 'migrated the database');
    const onError = (error: Error): void => log.warn({ err: error }, 'database connection lost');
    const poolOptions = { onError, max: config.databaseConnections };
    const pool = openPool(databaseUrl, poolOptions);
    stops.push(() => pool.close());
    const callsPool = openPool(memberUrl(databaseUrl), poolOptions);
    stops.push(() => callsPool.close());
    await requireMemberRole(callsPool.pg);
    const bus = createBus();
    const listener = listen(databaseUrl, bus, log);
    stops.push(() => listener.close());
    await listener.ready;
    const heldSince = installation.heldAt && (installation.restoredFrom ?? installation.heldAt);
    if (heldSince) {
      log.warn({ heldSince }, `held, as it was restored from a backup. ${RELEASE}`);
      await step('Looking whether it is held', heldDone, async () => heldSince);
    }
    await warnOfMail(config, log, step);
    const worksHere = config.roles.has('worker') && !heldSince;
    const queue = await startQueue(databaseUrl, log, { worker: worksHere });
    stops.push(() => queue.stop());

    const registration = registerWorker({ pg: pool.pg, log });
    stops.push(() => registration.close());
    const secrets = createSecretBox(loadSecretKey(config.secretKey, config.dataDir));
    await openSystemAccounts(pool.db);
    const keys = await loadSigningKeys(pool.db, secrets);
    const clouds = await (heldSince ? nameClouds : connectClouds)(config, log);
    stops.push(() => clouds.close());
    const local = clouds.providers.get('local');
    if (local && !heldSince) await step('Looking for Docker', localCloudDone, () => local.readiness());
    const stores = await openStores(config);
    stops.push(async () => stores.close());
    const slots = createSharedSlots();
    const repositories = openRepositories(config, { readers: slots.gitReaders, starts: slots.gitStarts });
    stops.push(async () => repositories.close());
    const ctx: Context = {
      config,
      installationId: installation.id,
      heldSince,
      db: pool.db,
      within: (workspaceId) => withinWorkspace(callsPool.pg, workspaceId),
      pg: pool.pg,
      callsPg: callsPool.pg,
      blobs: stores.blobs,
      files: stores.files,
      repositories,
      registration,
      jobs: queue,
      bus,
      providers: clouds.providers,
      secrets,
      keys,
      get daemonOrigin() {
        return config.daemonOrigin ?? `http://${clouds.gateway() ?? '127.0.0.1'}:${config.port}`;
      },
      get s3MachineOrigin() {
        return config.s3MachineOrigin ?? `http://${new URL(ctx.daemonOrigin).hostname}:${config.s3Port}`;
      },
      clock: { now: () => new Date() },
      log,
      meters,
      slots,
      streams: createStreamHub({ db: pool.db, keys, log }),
    };

    if (config.metricsPort !== null) {
      const { metricsPort } = config;
      const metrics = await listenOrExplain('METRICS_PORT', metricsPort, '127.0.0.1', () =>
        serveMetrics(ctx, meters, metricsPort),
      );
      stops.push(() => metrics.close());
    }

    if (worksHere) await startWorkers(ctx, queue, stops);
    const app = config.roles.has('api') ? await serveApi(ctx, clouds, stops) : null;
    if (config.roles.has('s3') && !heldSince) await serveS3(ctx, clouds, stops);
    return { ctx, app, stop };
  } catch (error) {
    await stop();
    throw error;
  }

  async function embedded(): Promise<string> {
    const dataDir = `${configured.dataDir}/postgres`;
    const postgres = await step(
      'Starting PostgreSQL',
      () => 'PostgreSQL started',
      () => startEmbeddedPostgres({ dataDir, log }),
    );
    stops.push(() => postgres.stop());
    return postgres.url;
  }
}

async function startWorkers(ctx: Context, queue: RunningQueue, stops: Stop[]): Promise<void> {
  const mails = await startMailWorker(ctx, queue);
  if (mails) stops.push(() => mails.stop());
  await startAnalyticsWorker(ctx, queue);
  await startProviderCheckWorker(ctx, queue);
  await startAuditCheckWorker(ctx, queue);
  await startCleanUp(ctx, queue);
  await startLedgerWorker(ctx, queue);
  for (const begin of [
    startInstanceWorker,
    startCommandRetention,
    startContainerWorker,
    startModelEndpointWorker,
    startLogRetention,
    startLogBucketWorker,
    startSelfHostedWorker,
    startStorageWorker,
    startProjectWorker,
    (of: Context) => startImportWorker(of, createImporter(of)),
    startGitMaintenance,
    startTaskWorker,
    startScheduleWorker,
    startTerminalWorker,
    startStraySweep,
    startFileWorker,
    startMeteringWorker,
    startUsageSampleWorker,
  ]) {
    const worker = begin(ctx);
    stops.push(() => worker.stop());
  }
}

/** While the platform is held, the web server alone. */
async function serveApi(ctx: Context, clouds: Clouds, stops: Stop[]): Promise<FastifyInstance> {
  const { port, listenHost, gitSshPort } = ctx.config;
  if (!ctx.heldSince) {
    const engines = startEngineWatch(ctx);
    stops.push(() => engines.stop());
  }
  const hosting = createHosting(ctx);
  stops.push(() => hosting.stop());
  const app = await buildApp(ctx, hosting);
  await serveOn(app, listenHost, port, stops);
  if (ctx.heldSince) return app;
  const ssh = await serveGitSsh(hosting);
  // Stops before the app, as transfers in progress over HTTP end with it.
  stops.push(() => ssh.close());
  await listenOrExplain('GIT_SSH_PORT', gitSshPort, listenHost, () => ssh.listen(listenHost, gitSshPort));
  // The port is taken there already.
  if (isEveryAddress(listenHost)) return app;
  clouds.onGateway(async (gateway) => {
    const daemonApp = await buildDaemonApp(ctx);
    await serveOn(daemonApp, gateway, port, stops);
  });
  return app;
}

async function serveS3(ctx: Context, clouds: Clouds, stops: Stop[]): Promise<void> {
  const { s3Port, listenHost } = ctx.config;
  const s3 = serveObjects(ctx);
  stops.push(() => s3.close());
  await listenOrExplain('S3_PORT', s3Port, listenHost, () => s3.listen(listenHost, s3Port));
  if (isEveryAddress(listenHost)) return;
  clouds.onGateway((gateway) => listenOrExplain('S3_PORT', s3Port, gateway, () => s3.listen(gateway, s3Port)));
}

async function openOrExplain(databaseUrl: string, config: Config): Promise<Opened> {
  try {
    return await openInstallation(databaseUrl, config);
  } catch (cause) {
    if (cause instanceof ConfigError || cause instanceof NewerDatabase) throw cause;
    const { message, code } = cause as NodeJS.ErrnoException;
    // A name with several addresses fails with an error that has a code and no message.
    const reason = `The database cannot be used: ${message || code}`;
    const remedy = 'Check DATABASE_URL and that PostgreSQL runs there; without DATABASE_URL, Stagi starts its own.';
    throw new Error(config.databaseUrl ? `${reason}. ${remedy}` : reason, { cause });
  }
}

/** Says what a platform beyond this machine cannot do, or gives away, for want of a mail server. */
async function warnOfMail({ smtpUrl, devMail, isOfThisMachine }: Config, log: Logger, step: Step): Promise<void> {
  if (smtpUrl !== null || isOfThisMachine) return;
  const missing = devMail ? MAILS_ARE_PUBLIC : NO_MAIL;
  log.warn(missing);
  await step(
    'Looking for a mail server',
    () => ({ missing }),
    async () => {},
  );
}

const NO_MAIL =
  'Mail: SMTP_URL is not set. Nobody can sign up, recover a password, change their address or confirm a step by a mailed code';
const MAILS_ARE_PUBLIC =
  'Mail: DEV_MAIL is "on public". Every mailed code is shown at /dev/mail to anybody who reaches this platform';

const migrationsDone = ({ migrations }: Opened): string =>
  migrations.length > 0
    ? `Database migrated to ${migrations.at(-1)!.name}: ${migrations.length} new`
    : 'Database up to date';

const heldDone = (since: Date): { missing: string } => ({
  missing: `Held: restored from a backup of ${since.toISOString()}. ${RELEASE}`,
});

const RELEASE = 'To release it: npm run operator -- release, then start it again';

function localCloudDone(readiness: Readiness): string | { missing: string } {
  switch (readiness.state) {
    case 'ready':
      return 'Local cloud: ready';
    case 'preparing':
      return 'Local cloud: its machine image is being built; the marketplace shows the progress';
    case 'unavailable':
      return { missing: `Local cloud: ${readiness.reason}` };
  }
}

async function serveOn(app: FastifyInstance, host: string, port: number, stops: Stop[]): Promise<void> {
  let stopAccepting: StopAccepting = async () => {};
  stops.push(() => Promise.all([stopAccepting(), app.close()]));
  stopAccepting = await listenOrExplain('PORT', port, host, () =>
    listenAt(app.server, host, port, (options) => app.listen(options)),
  );
}

async function listenOrExplain<T>(variable: string, port: number, host: string, listen: () => Promise<T>): Promise<T> {
  try {
    return await listen();
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    if (code === 'EADDRNOTAVAIL') throw new ConfigError('LISTEN_HOST', `${host} is no address of this machine`);
    if (code !== 'EADDRINUSE') throw cause;
    throw new ConfigError(
      variable,
      `${port} is taken on ${host} by another program: stop it or set ${variable} to another port`,
    );
  }
}
