/**
 * The cost of the policies of isolation.ts: the same calls over the same rows by two servers in turn. One is as it is,
 * the handlers of the other see every row. Prints p50 and p95; fails when the list of servers takes more than a tenth
 * longer at either. The other figures have no limit.
 */
import { api } from '@stagi/contract/api.ts';
import type { Call, InputOf } from '@stagi/contract/call.ts';
import { buildApp } from '@stagi/server/src/app/app.ts';
import { createHosting } from '@stagi/server/src/gitHosting/hosting.ts';
import { findLines, MAX_SEQ } from '@stagi/server/src/logging/findLines.ts';
import { startTestApp } from '@stagi/server/src/testing/app.ts';
import { startTestPostgres } from '@stagi/server/src/testing/database.ts';
import { aContainer, aRentedInstance } from '@stagi/server/src/testing/factories.ts';
import pg from 'pg';
import { percentile, timed } from './million.ts';

const ROUNDS = 1_000;
const WARM_UP = 100;
const MOST = 1.1;
const OPEN = 1_000;
const OTHERS = 100_000;
const LINES = 20_000;

const postgres = await startTestPostgres();
const app = await startTestApp({ LOG_LEVEL: 'silent' }, { role: 'api' });
const unboundCtx = { ...app.ctx, within: () => app.ctx.db };
// Its pool has the same size: only the database role differs.
const unbound = await buildApp(unboundCtx, createHosting(unboundCtx));
await unbound.listen({ host: '127.0.0.1', port: 0 });
const { port } = unbound.server.address() as { port: number };
const failures: string[] = [];
try {
  const [alice, other] = [await app.signUp(), await app.signUp()];
  const server = await aRentedInstance(app.ctx, alice);
  const container = await aContainer(app.ctx, alice, server);
  await fill([
    ...[alice, other].map(
      ({ workspaceId, userId }, at) => `insert into instance
        (workspace_id, kind, slug, title, created_by, status, offer, provider, price_per_hour, stopped_price_per_hour,
          host_username, created_at)
      select ${workspaceId}, kind, 's-' || n, 'Server ' || n, ${userId}, status, offer, provider, price_per_hour, stopped_price_per_hour,
        host_username, now() - n * interval '1 second'
      from instance, generate_series(1, ${[OPEN, OTHERS][at]}) n where id = ${server}`,
    ),
    `insert into log_line (container_id, seq, time_ns, stderr, text)
      select ${container}, n, n * 1000000000::bigint, false, md5(n::text) from generate_series(1, ${LINES}) n`,
    `insert into log_head (container_id, last_seq) values (${container}, ${LINES})`,
    'vacuum analyze',
  ]);

  const source = { type: 'docker-container' as const, id: container };
  await compareCalls('instance-rented/list', api.instances.list, {}, MOST);
  await compareCalls('instance-rented/view', api.instances.view, { id: server });
  await compareCalls('docker-container/list', api.containers.list, {});
  await compareCalls('logging/query', api.logging.query, { source });
  const like = '%not there%';
  const everyLine = {
    like,
    matches: null,
    first: 1n,
    last: MAX_SEQ,
    fromNs: null,
    toNs: null,
    forward: true,
    limit: 100,
  };
  await compare('a search through every line of a log', ROUNDS / 10, {
    bound: () => findLines(app.ctx.within(alice.workspaceId), container, everyLine),
    unbound: () =>
      app.ctx.db
        .selectFrom('log_line')
        .select(['seq', 'time_ns', 'stderr', 'text'])
        .where('container_id', '=', container)
        .where('text', 'ilike', like)
        .orderBy('seq')
        .limit(100)
        .execute(),
  });

  async function compareCalls<C extends Call>(name: string, call: C, input: InputOf<C>, most?: number): Promise<void> {
    const askAt = (origin: string) => async () => {
      const reply = await fetch(`${origin}/frontend-api/${call.path}`, {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          authorization: `Bearer ${alice.tokens().accessToken}`,
          'x-client-id': String(alice.workspaceId),
        },
        body: JSON.stringify(input),
      });
      await reply.arrayBuffer();
      if (!reply.ok) throw new Error(`${call.path}: ${reply.status}`);
    };
    const ways = { bound: askAt(app.url), unbound: askAt(`http://127.0.0.1:${port}`) };
    // Calls through the client now and then, which renews a session that is about to expire.
    await compare(name, ROUNDS, ways, { most, atTimes: () => alice.client(call, input) });
  }

  async function compare(
    name: string,
    rounds: number,
    ways: Record<'bound' | 'unbound', () => Promise<unknown>>,
    { most = Number.POSITIVE_INFINITY, atTimes }: { most?: number; atTimes?: () => Promise<unknown> } = {},
  ): Promise<void> {
    const took: Record<'bound' | 'unbound', number[]> = { bound: [], unbound: [] };
    for (let round = -WARM_UP; round < rounds; round += 1) {
      if (round % WARM_UP === 0) await atTimes?.();
      // The order alternates, as the second one finds the rows in the cache of the processor.
      const order = round % 2 === 0 ? (['bound', 'unbound'] as const) : (['unbound', 'bound'] as const);
      for (const way of order) {
        const ms = await timed(ways[way]);
        if (round >= 0) took[way].push(ms);
      }
    }
    for (const share of [0.5, 0.95]) {
      const [ours, baseline] = [percentile(took.bound, share), percentile(took.unbound, share)];
      const ratio = ours / baseline;
      console.log(
        `${name}, p${share * 100}: n = ${took.bound.length}, ${ours.toFixed(2)} ms against ${baseline.toFixed(2)} ms, ratio ${ratio.toFixed(3)}${Number.isFinite(most) ? `, goal at most ${most}` : ''}`,
      );
      if (!(ratio <= most)) failures.push(`${name}, p${share * 100}: ratio ${ratio.toFixed(3)}`);
    }
  }
} finally {
  await unbound.close();
  await app.close();
  await postgres.stop();
}
for (const failure of failures) console.log(`FAILED: ${failure}`);
process.exit(failures.length > 0 ? 1 : 0);

/** Without the timeouts and foreign key checks of a call. */
async function fill(statements: readonly string[]): Promise<void> {
  const client = new pg.Client({ connectionString: app.databaseUrl, options: '-c session_replication_role=replica' });
  await client.connect();
  for (const statement of statements) await client.query(statement);
  await client.end();
}
