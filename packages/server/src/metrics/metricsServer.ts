import { once } from 'node:events';
import { createServer } from 'node:http';
import type { Context } from '../context.ts';
import { isAddress, nameOf } from '../http/hostOf.ts';
import { createHostRefusal } from '../http/hostRefusal.ts';
import { NO_PAGE } from '../http/plainHeaders.ts';
import { type PlatformMetrics, readPlatformMetrics } from './platformMetrics.ts';
import type { Collector } from './prometheus.ts';

/** Many scrapers cost the database no more than one. */
const CACHE_MS = 5_000;
/** A scrape is most useful when the database is slow, so it does not wait for it. */
const DATABASE_TIMEOUT_MS = 1_000;

/** Serves `GET /metrics` on loopback. Fails when the port is taken. */
export async function serveMetrics(
  ctx: Pick<Context, 'config' | 'db' | 'pg' | 'callsPg' | 'log'>,
  collector: Collector,
  port: number,
): Promise<{ close(): Promise<void> }> {
  const figures = cachePlatformMetrics(ctx);
  // The figures are of the whole platform and of nobody: scrapers name them by address.
  const isKnown = (name: string): boolean =>
    isAddress(name) || name === 'localhost' || ctx.config.allowedHosts.includes(name);
  const refusalOf = createHostRefusal(ctx);
  const server = createServer({ keepAliveTimeout: 65_000 }, (request, response) => {
    response.setHeader('cache-control', 'no-store');
    for (const [name, value] of Object.entries(NO_PAGE)) response.setHeader(name, value);
    const host = (request.headers.host ?? '').toLowerCase();
    if (!isKnown(nameOf(host))) {
      const { status, message } = refusalOf(host);
      response.writeHead(status, { 'content-type': 'text/plain; charset=utf-8' }).end(`${message}\n`);
      return;
    }
    if (request.url !== '/metrics' || request.method !== 'GET') {
      response.writeHead(404).end();
      return;
    }
    figures()
      .then((known) => collector.text({ platform: ctx.pg, calls: ctx.callsPg }, known))
      .then(
        (text) => response.writeHead(200, { 'content-type': collector.contentType }).end(text),
        (error: unknown) => {
          ctx.log.error({ err: error }, 'cannot tell the metrics');
          response.writeHead(500).end();
        },
      );
  });
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  return {
    async close() {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

function cachePlatformMetrics(ctx: Pick<Context, 'config' | 'db' | 'log'>): () => Promise<PlatformMetrics | null> {
  let last: { at: number; figures: PlatformMetrics } | null = null;
  let asking: Promise<PlatformMetrics | null> | null = null;

  async function ask(): Promise<PlatformMetrics | null> {
    try {
      const figures = await readPlatformMetrics(ctx.db, ctx.config.smtpUrl !== null);
      last = { at: performance.now(), figures };
      return figures;
    } catch (error) {
      ctx.log.warn({ err: error }, 'the database does not tell its metrics');
      return null;
    } finally {
      asking = null;
    }
  }

  return async () => {
    if (last && performance.now() - last.at < CACHE_MS) return last.figures;
    asking ??= ask();
    const { promise: late, resolve } = Promise.withResolvers<null>();
    const timer = setTimeout(resolve, DATABASE_TIMEOUT_MS, null);
    try {
      return await Promise.race([asking, late]);
    } finally {
      clearTimeout(timer);
    }
  };
}
