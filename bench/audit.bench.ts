/**
 * The audit log of one workspace at 1,000,000 entries of 100,000 people: the first 100 pages, whatever it is narrowed by,
 * people found by what they are called, its first part of an export and of a check, and what an act costs that is written
 * down. Fails beyond 50 ms at the p95 of the pages and of the searches.
 */
import { api } from '@stagi/contract/api.ts';
import type { InputOf } from '@stagi/contract/call.ts';
import { startTestApp } from '@stagi/server/src/testing/app.ts';
import { startTestPostgres } from '@stagi/server/src/testing/database.ts';
import { anOwnServer } from '@stagi/server/src/testing/factories.ts';
import pg from 'pg';
import { percentile, timed, turnPages } from './million.ts';

const ENTRIES = 1_000_000;
/** Who act often; the others a few times each. */
const PEOPLE = 50;
const OTHERS = 100_000;
const ACTS = 200;
const SEARCHES = 50;

const postgres = await startTestPostgres();
const app = await startTestApp();
const failures: string[] = [];
try {
  const alice = await app.signUp('Alice');
  const fresh = await app.signUp('Fresh');
  await fill(alice.workspaceId, alice.userId);

  const day = 86_400_000;
  const at = (daysAgo: number): string => new Date(Date.now() - daysAgo * day).toISOString();
  const found = async (queryString?: string) =>
    (await alice.client(api.audit.listActors, { entityFilterRequest: { queryString } })).entities;
  const actors = await found('Member');
  const somebody = actors[0]!.userId;
  const filters: Record<string, InputOf<typeof api.audit.list>> = {
    everything: {},
    'one person': { userIds: [somebody] },
    'an area': { areas: ['docker-container'] },
    'a rare area': { areas: ['api-token'] },
    'what was denied': { entityFilterRequest: { statuses: ['denied'] } },
    'a week': { from: at(107), to: at(100) },
    'one person in a rare area': { userIds: [somebody], areas: ['api-token'] },
    'one person, denied, in a month': {
      userIds: [somebody],
      from: at(60),
      to: at(30),
      entityFilterRequest: { statuses: ['denied'] },
    },
    'three people': { userIds: actors.slice(0, 3).map(({ userId }) => userId) },
    'one of the many': { userIds: [(await found('other77777@'))[0]!.userId] },
    'one person in a common area, denied': {
      userIds: [alice.userId],
      areas: ['docker-container'],
      entityFilterRequest: { statuses: ['denied'] },
    },
    'oldest first': { entityFilterRequest: { orderByDirection: 'asc' } },
    nobody: { userIds: [fresh.userId] },
  };
  for (const [name, input] of Object.entries(filters)) {
    const failure = await turnPages(`audit, ${name}`, (page) =>
      alice.client(api.audit.list, { ...input, entityFilterRequest: { ...input.entityFilterRequest, page } }),
    );
    if (failure) failures.push(failure);
  }
  for (const [name, text] of Object.entries({
    'who acted last': undefined,
    'one by address': 'other77777@',
    'one by name': 'Other 77777',
    'what all are called': 'Other',
    'what none is called': 'Nobody here',
    'what others outside are called': 'Namesake',
  })) {
    const times: number[] = [];
    for (let n = 0; n < SEARCHES; n += 1) times.push(await timed(() => found(text)));
    const p95 = percentile(times, 0.95);
    console.log(`audit: n = ${SEARCHES} searches for ${name}, p95 ${p95.toFixed(1)} ms`);
    if (!(p95 <= 50)) failures.push(`searching ${name}: ${p95} ms`);
  }
  const exported = await timed(() => alice.client(api.audit.export, {}));
  const verified = await timed(() => alice.client(api.audit.verify, {}));
  console.log(
    `audit: 5,000 entries exported in ${exported.toFixed(0)} ms, 10,000 checked in ${verified.toFixed(0)} ms`,
  );

  const server = await anOwnServer(app.ctx, fresh);
  const acts: number[] = [];
  for (let n = 0; n < ACTS; n += 1)
    acts.push(await timed(() => fresh.client(api.selfHosted.edit, { id: server, title: `Title ${n}` })));
  const looks: number[] = [];
  for (let n = 0; n < ACTS; n += 1) looks.push(await timed(() => fresh.client(api.selfHosted.view, { id: server })));
  console.log(
    `audit: n = ${ACTS} renames p50 ${percentile(acts, 0.5).toFixed(1)} ms, as many looks p50 ${percentile(looks, 0.5).toFixed(1)} ms`,
  );
} finally {
  await app.close();
  await postgres.stop();
}
for (const failure of failures) console.log(`FAILED: ${failure}`);
process.exit(failures.length > 0 ? 1 : 0);

/** Entries of 400 days; a tenth of a percent denied, one in a thousand about tokens. */
async function fill(chain: number, owner: number): Promise<void> {
  const client = new pg.Client({ connectionString: app.databaseUrl, options: '-c session_replication_role=replica' });
  await client.connect();
  await client.query(
    `insert into app_user (email, name) select 'member' || n || '@example.com', 'Member ' || n from generate_series(1, ${PEOPLE}) n`,
  );
  // Every second of them stands in no log.
  await client.query(
    `insert into app_user (email, name) select who || n || '@example.com', initcap(who) || ' ' || n
      from generate_series(1, ${OTHERS}) n, unnest(array['other', 'namesake']) with ordinality as called (who, place)
      order by n, place`,
  );
  await client.query(
    `insert into audit (chain, seq, at, workspace_id, actor_id, credential, credential_id, ip, action, object_type, object_id,
        outcome, prev_hash, hash)
      select ${chain}, n, now() - (${ENTRIES} - n) * (interval '400 days' / ${ENTRIES}), ${chain},
        case n % 3 when 0 then ${owner} when 1 then (select min(id) from app_user where name like 'Member %') + n * 7 % ${PEOPLE}
          else (select min(id) from app_user where name like 'Other %') + 2 * (n * 7 % ${OTHERS}) end,
        'session', md5(n::text), '192.0.2.' || n % 250,
        case when n % 1000 = 0 then 'api-token/create' when n % 2 = 0 then 'docker-container/start' else 'instance-rented/stop' end,
        'docker-container', n::text, case when n % 1009 = 0 then 'denied' else 'done' end,
        sha256((n - 1)::text::bytea), sha256(n::text::bytea)
      from generate_series(1, ${ENTRIES}) n`,
  );
  await client.query('insert into audit_actor select distinct chain, actor_id from audit');
  await client.query(
    `insert into audit_head (chain, seq, hash) values (${chain}, ${ENTRIES}, sha256('${ENTRIES}'::bytea))`,
  );
  for (const table of ['audit', 'audit_actor', 'app_user']) await client.query(`vacuum analyze ${table}`);
  await client.end();
}
