/**
 * Every list at 100,000 rows and more: closed and deleted rows of one large workspace, rows of others, a long log.
 * Prints for each query n, p95 and how PostgreSQL finds the rows; fails when the p95 of a query is over 300 ms. A
 * sequential scan is fine where half of the table is counted.
 */
import { api } from '@stagi/contract/api.ts';
import type { Call, InputOf } from '@stagi/contract/call.ts';
import { startTestApp } from '@stagi/server/src/testing/app.ts';
import { startTestPostgres } from '@stagi/server/src/testing/database.ts';
import { aContainer, anSshKey, aRentedInstance, aSelfHostedServer } from '@stagi/server/src/testing/factories.ts';
import { CompiledQuery, Kysely, PostgresDialect, sql } from 'kysely';
import pg from 'pg';

const ROUNDS = 20;
const P95_MOST_MS = 300;
const LARGE_ROWS = 10_000;
const MANY = 100_000;
/** Open rows of one workspace: more than any is likely to have. */
const OPEN = 1_000;

const OF_LISTS = /from "(instance|container|ssh_key|instance_activity|instance_ssh_key|log_\w+)"/;

const seen = watchQueries();
const postgres = await startTestPostgres();
const app = await startTestApp();
// Without the timeouts and foreign key checks of a call.
const pool = new pg.Pool({ connectionString: app.databaseUrl, options: '-c session_replication_role=replica' });
const db = new Kysely({ dialect: new PostgresDialect({ pool }) });
const failures: string[] = [];
try {
  const alice = await app.signUp('Alice');
  const other = await app.signUp('Other');
  // The plans are those of calls: with the policies of isolation.ts.
  const within = app.ctx.within(alice.workspaceId);
  const server = await aRentedInstance(app.ctx, alice);
  const own = await aSelfHostedServer(app.ctx, alice);
  const container = await aContainer(app.ctx, alice, server);
  const key = await anSshKey(app.ctx, alice);
  await copyRows('instance', server, OPEN, { slug: "'open-' || n", title: "'Open ' || n" });
  await copyRows('instance', own, OPEN, { slug: "'my-own-' || n", title: "'Own ' || n" });
  await copyRows('instance', server, MANY, { slug: "'c-' || n", status: "'terminated'", closed_at: 'now()' });
  await copyRows('instance', server, MANY, { slug: "'o-' || n", workspace_id: String(other.workspaceId) });
  await copyRows('container', container, OPEN, { slug: "'open-' || n" });
  await copyRows('container', container, MANY, { slug: "'d-' || n", status: "'deleted'", deleted_at: 'now()' });
  await copyRows('container', container, MANY, { slug: "'o-' || n", workspace_id: String(other.workspaceId) });
  await copyRows('ssh_key', key, OPEN, { fingerprint: "'mine' || n" });
  await copyRows('ssh_key', key, MANY, { fingerprint: "'other' || n", user_id: String(other.userId) });
  for (const id of [server, own]) {
    await sql`insert into instance_activity (instance_id, kind, detail, at)
      select ${id}, 'status', 'detail ' || n, now() - n * interval '1 second' from generate_series(1, ${sql.lit(MANY)}) n`.execute(
      db,
    );
  }
  await sql`insert into instance_ssh_key (instance_id, ssh_key_id) select ${server}, id from ssh_key where user_id = ${alice.userId}`.execute(
    db,
  );
  await sql`insert into log_line (container_id, seq, time_ns, stderr, text)
    select ${container}, n, n * 1000000000::bigint, n % 7 = 0, 'line ' || md5(n::text) from generate_series(1, ${sql.lit(3 * MANY)}) n`.execute(
    db,
  );
  await sql`insert into log_head (container_id, last_seq) values (${container}, ${3 * MANY})
    on conflict (container_id) do update set last_seq = excluded.last_seq`.execute(db);
  await sql`vacuum analyze`.execute(db);
  const { rows: sizes } = await sql<{ name: string; rows: number }>`select relname as name, reltuples::int as rows
    from pg_class where relkind = 'r'`.execute(db);
  const large = new Set(sizes.filter(({ rows }) => rows >= LARGE_ROWS).map(({ name }) => name));
  console.log(
    `rows: ${sizes
      .filter(({ name }) => large.has(name))
      .map(({ name, rows }) => `${name} ${rows}`)
      .join(', ')}`,
  );

  const filter = (change: object) => ({ entityFilterRequest: change });
  await ask(api.instances.list, {}, 'newest');
  await ask(api.instances.list, filter({ orderByField: 'title', page: 90 }), 'by title, page 90');
  await ask(api.instances.list, filter({ queryString: 'pen 99' }), 'search');
  await ask(api.instances.list, filter({ statuses: ['terminated'] }), 'terminated');
  await ask(api.selfHosted.list, {}, 'newest');
  await ask(api.selfHosted.list, filter({ queryString: 'wn 99' }), 'search');
  await ask(api.instances.activities, { id: server }, 'newest');
  await ask(api.instances.activities, { id: server, ...filter({ queryString: 'detail 99' }) }, 'search');
  await ask(api.instances.activities, { id: server, ...filter({ page: 9_000 }) }, 'page 9,000');
  await ask(api.selfHosted.activities, { id: own }, 'newest');
  await ask(api.instances.sshKeys, { id: server }, 'newest');
  await ask(api.containers.list, {}, 'newest');
  await ask(api.containers.list, { instanceRef: { id: server } }, 'of one server');
  await ask(api.containers.list, filter({ queryString: 'pen-99' }), 'search');
  await ask(api.containers.list, filter({ statuses: ['deleted'] }), 'deleted');
  await ask(api.sshKeys.list, {}, 'newest');
  await ask(api.sshKeys.list, filter({ queryString: 'mine99' }), 'search');
  await ask(api.hardware.offers, {}, 'all');
  const source = { type: 'docker-container' as const, id: container };
  await ask(api.logging.query, { source }, 'end');
  await ask(api.logging.query, { source, cursor: { before: 150_000 } }, 'middle');
  await ask(api.logging.query, { source, text: 'abcdef' }, 'search');
  await ask(api.logging.query, { source, from: '1970-01-03T00:00:00Z', to: '1970-01-03T01:00:00Z' }, 'one hour');

  async function ask<C extends Call>(call: C, input: InputOf<C>, name: string): Promise<void> {
    const took: number[] = [];
    const queries = await watching(async () => {
      for (let round = 0; round <= ROUNDS; round += 1) {
        const since = performance.now();
        await alice.client(call, input);
        if (round > 0) took.push(performance.now() - since);
      }
    });
    const plans = new Set<string>();
    for (const [text, values] of queries) for (const node of await planOf(text, values)) plans.add(node);
    took.sort((a, b) => a - b);
    const p95 = took[Math.floor(took.length * 0.95)] ?? Number.NaN;
    console.log(`${call.path}, ${name}: n = ${took.length}, p95 ${p95.toFixed(1)} ms | ${[...plans].join(', ')}`);
    if (!(p95 <= P95_MOST_MS)) failures.push(`${call.path}, ${name}: ${p95.toFixed(0)} ms`);
  }

  /** The scans and sorts of the plan, innermost first. */
  async function planOf(text: string, values: unknown[]): Promise<string[]> {
    const explained = CompiledQuery.raw(`explain (format json) ${text}`, values);
    const { rows } = await within.executeQuery<{ 'QUERY PLAN': { Plan: Plan }[] }>(explained);
    return nodesOf(rows[0]!['QUERY PLAN'][0]!.Plan);
  }

  /** Copies one row `count` times with some columns changed; `n` is the number of the copy. */
  async function copyRows(table: string, id: number, count: number, change: Record<string, string>): Promise<void> {
    const { rows } = await sql<{ name: string }>`select column_name as name from information_schema.columns
      where table_schema = 'public' and table_name = ${table} and is_identity = 'NO'`.execute(db);
    const names = rows.map(({ name }) => name);
    const later = { created_at: "created_at - n * interval '1 second'", ...change } as Record<string, string>;
    await sql
      .raw(
        `insert into ${table} (${names.join(', ')}) select ${names.map((name) => later[name] ?? name).join(', ')}
         from ${table}, generate_series(1, ${count}) n where id = ${id}`,
      )
      .execute(db);
  }
} finally {
  await db.destroy();
  await app.close();
  await postgres.stop();
}
for (const failure of failures) console.log(`FAILED: ${failure}`);
process.exit(failures.length > 0 ? 1 : 0);

interface Plan {
  'Node Type': string;
  'Relation Name'?: string;
  'Index Name'?: string;
  Plans?: Plan[];
}

function nodesOf(plan: Plan): string[] {
  const below = (plan.Plans ?? []).flatMap(nodesOf);
  const type = plan['Node Type'];
  const place = plan['Index Name'] ?? plan['Relation Name'];
  if (place) return [...below, `${type} ${place}`];
  return /Sort/.test(type) ? [...below, type] : below;
}

/** The selects over the tables of lists that are sent while `work` runs, without duplicates. */
async function watching(work: () => Promise<void>): Promise<Map<string, unknown[]>> {
  seen.clear();
  await work();
  return new Map(seen);
}

/** Must run before the first connection is made: each takes its query function at that time. */
function watchQueries(): Map<string, unknown[]> {
  const found = new Map<string, unknown[]>();
  const { query } = pg.Client.prototype;
  pg.Client.prototype.query = function watched(this: pg.Client, ...args: unknown[]) {
    const [first, second] = args;
    // Those of calls are query objects (`within.ts`), the others text and values.
    const { text, values } =
      typeof first === 'string' ? { text: first, values: second } : (first as { text?: unknown; values?: unknown });
    if (typeof text === 'string' && text.startsWith('select') && OF_LISTS.test(text))
      found.set(text, Array.isArray(values) ? values : []);
    return (query as (...all: unknown[]) => unknown).apply(this, args);
  } as typeof query;
  return found;
}
