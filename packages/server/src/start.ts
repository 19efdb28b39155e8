import type { FastifyInstance } from 'fastify';
import { workOnChecks } from './admin/providerCheck.ts';
import { workOnAnalytics } from './analytics/forward.ts';
import { workOnAuditChecks } from './audit/checks.ts';
import { loadSigningKeys } from './auth/signingKeys.ts';
import { openSystemAccounts } from './billing/accounts.ts';
import { startMetering } from './billing/metering.ts';
import { createBus, listen } from './bus/bus.ts';
import { startCleanUp } from './cleanUp.ts';
import { openClouds } from './clouds.ts';
import type { Config } from './config.ts';
import { ConfigError } from './configError.ts';
import { startContainerWorker } from './containers/worker.ts';
import type { Context } from './context.ts';
import { startLinkWorker } from './daemon-link/worker.ts';
import { startEmbeddedPostgres } from './db/embedded.ts';
import { asMember, requireMemberRole } from './db/memberRole.ts';
import { migrate } from './db/migrate.ts';
import { openPool } from './db/pool.ts';
import { within } from './db/within.ts';
import { buildApp, buildDaemonApp } from './http/app.ts';
import { startInstanceWorker } from './instances/worker.ts';
import { startQueue } from './jobs/queue.ts';
import { startLedgerWork } from './ledger/worker.ts';
import { openLog } from './log.ts';
import { workOnMail } from './mail/send.ts';
import { collect } from './metrics/collect.ts';
import { serveMetrics } from './metrics/server.ts';
import { createSecretBox, loadSecretKey } from './secrets/box.ts';
import { startKeepingSkipIndexes } from './skipIndex/keep.ts';
import { startFollowingNames } from './workspaces/followNames.ts';

export interface Running {
  ctx: Context;
  app: FastifyInstance | null;
  /** Stops everything this process started, newest first. */
  stop(): Promise<void>;
}

/** Starts the platform: database, queue, clouds, the HTTP servers and the loops of this process's roles. */
export async function start(config: Config): Promise<Running> {
  const meters = collect();
  const log = openLog(config.logLevel, meters);
  const stops: (() => Promise<unknown>)[] = [async () => meters.stop()];
  const stop = async (): Promise<void> => {
    for (const end of stops.splice(0).reverse()) {
      await end().catch((error: unknown) => log.warn({ err: error }, 'while stopping'));
    }
  };
  try {
    const databaseUrl = config.databaseUrl ?? (await embedded());
    await migrate(databaseUrl).catch((cause: unknown) => {
      throw new Error(`The database cannot be used: ${(cause as Error).message}`, { cause });
    });
    const onError = (error: Error): void => log.warn({ err: error }, 'database connection lost');
    const pooled = { onError, max: config.databaseConnections };
    const pool = openPool(databaseUrl, pooled);
    stops.push(() => pool.close());
    const calls = openPool(asMember(databaseUrl), pooled);
    stops.push(() => calls.close());
    await requireMemberRole(calls.pg);
    const bus = createBus();
    const listener = listen(databaseUrl, bus, log);
    stops.push(() => listener.close());
    await listener.ready;
    const queue = await startQueue(databaseUrl, log, { worker: config.roles.has('worker') });
    stops.push(() => queue.stop());

    const secrets = createSecretBox(loadSecretKey(config.secretKey, config.dataDir));
    await openSystemAccounts(pool.db);
    const keys = await loadSigningKeys(pool.db, secrets);
    const clouds = await openClouds(config, log);
    stops.push(() => clouds.close());
    const ctx: Context = {
      config,
      db: pool.db,
      within: (workspaceId) => within(calls.pg, workspaceId),
      pg: pool.pg,
      callsPg: calls.pg,
      jobs: queue,
      bus,
      providers: clouds.providers,
      secrets,
      keys,
      get daemonOrigin() {
        return config.daemonOrigin ?? `http://${clouds.gateway() ?? '127.0.0.1'}:${config.port}`;
      },
      clock: { now: () => new Date() },
      log,
      meters,
    };

    if (config.metricsPort !== null) {
      const { metricsPort } = config;
      const metrics = await orTaken('METRICS_PORT', metricsPort, '127.0.0.1', () =>
        serveMetrics(ctx, meters, metricsPort),
      );
      stops.push(() => metrics.close());
    }

    if (config.roles.has('worker')) {
      await workOnMail(ctx, queue);
      await workOnAnalytics(ctx, queue);
      await workOnChecks(ctx, queue);
      await workOnAuditChecks(ctx, queue);
      await startCleanUp(ctx, queue);
      await startLedgerWork(ctx, queue);
      for (const begin of [
        startInstanceWorker,
        startLinkWorker,
        startContainerWorker,
        startMetering,
        startFollowingNames,
        startKeepingSkipIndexes,
      ]) {
        const worker = begin(ctx);
        stops.push(() => worker.stop());
      }
    }
    let app: FastifyInstance | null = null;
    if (config.roles.has('api')) {
      app = await buildApp(ctx);
      stops.push(() => app!.close());
      await listenOn(app, '127.0.0.1', config.port);
      clouds.onGateway(async (gateway) => {
        const daemonApp = await buildDaemonApp(ctx);
        stops.push(() => daemonApp.close());
        await listenOn(daemonApp, gateway, config.port);
      });
    }
    return { ctx, app, stop };
  } catch (error) {
    await stop();
    throw error;
  }

  async function embedded(): Promise<string> {
    const postgres = await startEmbeddedPostgres({ dataDir: `${config.dataDir}/postgres`, log });
    stops.push(() => postgres.stop());
    return postgres.url;
  }
}

async function listenOn(app: FastifyInstance, host: string, port: number): Promise<void> {
  await orTaken('PORT', port, host, () => app.listen({ host, port }));
}

async function orTaken<T>(variable: string, port: number, host: string, listen: () => Promise<T>): Promise<T> {
  try {
    return await listen();
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw cause;
    throw new ConfigError(
      variable,
      `${port} is taken on ${host} by another program: stop it or set ${variable} to another port`,
    );
  }
}
