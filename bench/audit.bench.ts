/**
 * The first page of an audit log of 1,000,000 entries by 100,000 people: narrowed to people and areas with few entries,
 * many, many that are the oldest, and none; and people of the log found by name in the same way.
 */
import { api } from '@stagi/contract/api.ts';
import type { InputOf } from '@stagi/contract/call.ts';
import { startTestApp } from '@stagi/server/src/testing/app.ts';
import { startTestPostgres } from '@stagi/server/src/testing/database.ts';
import pg from 'pg';
import { firstPages } from './million.ts';

const ENTRIES = 1_000_000;
const PEOPLE = 100_000;
const OLDEST = ENTRIES / 8;

const postgres = await startTestPostgres();
const app = await startTestApp();
const slow: string[] = [];
try {
  const alice = await app.signUp('Alice');
  const veteran = await app.signUp('Veteran');
  const fresh = await app.signUp('Fresh');
  await fill(alice.workspaceId, alice.userId, veteran.userId);

  const found = (queryString?: string) => alice.client(api.audit.listActors, { entityFilterRequest: { queryString } });
  const somebody = (await found('Other 77777')).entities[0]!.userId;
  const entries: Record<string, InputOf<typeof api.audit.list>> = {
    everything: {},
    'everything, oldest first': { entityFilterRequest: { orderByDirection: 'asc' } },
    'a person, few': { userIds: [somebody] },
    'a person, many': { userIds: [alice.userId] },
    'a person, many, oldest': { userIds: [veteran.userId] },
    'a person, none': { userIds: [fresh.userId] },
    'an area, few': { areas: ['api-token'] },
    'an area, many': { areas: ['docker-container'] },
    'an area, many, oldest': { areas: ['role'] },
    'an area, none': { areas: ['promo'] },
    'what was denied': { entityFilterRequest: { statuses: ['denied'] } },
    'a person in an area, few of many': { userIds: [alice.userId], areas: ['api-token'] },
    'a person in an area, none of many': { userIds: [alice.userId], areas: ['role'] },
  };
  for (const [name, input] of Object.entries(entries))
    slow.push(...(await firstPages(`audit, ${name}`, () => alice.client(api.audit.list, input))));

  const texts = {
    'last to act': undefined,
    rare: 'Other 77777',
    frequent: 'Other',
    'frequent, last': 'Zygmunt',
    none: 'Nobody here',
    'none, but many outside the log': 'Namesake',
    'an address': 'person77777@',
  };
  for (const [name, text] of Object.entries(texts))
    slow.push(...(await firstPages(`people of the log, ${name}`, () => found(text))));
} finally {
  await app.close();
  await postgres.stop();
}
for (const way of slow) console.log(`SLOW: ${way}`);
process.exit(slow.length > 0 ? 1 : 0);

/** A third of all entries are of `often`, the oldest eighth of `once`. As many people again have no entry. */
async function fill(chain: number, often: number, once: number): Promise<void> {
  const client = new pg.Client({ connectionString: app.databaseUrl, options: '-c session_replication_role=replica' });
  await client.connect();
  await client.query(
    `insert into app_user (email, name)
      select case place when 1 then 'person' else 'namesake' end || n || '@example.com',
        case when place = 2 then 'Namesake ' when n % 8 = 0 then 'Zygmunt ' else 'Other ' end || n
      from generate_series(1, ${PEOPLE}) n, generate_series(1, 2) place order by n, place`,
  );
  await client.query(
    `insert into audit (chain, seq, at, workspace_id, actor_id, credential, credential_id, ip, action, object_type, object_id,
        outcome, prev_hash, hash)
      select ${chain}, n, now() - (${ENTRIES} - n) * (interval '400 days' / ${ENTRIES}), ${chain},
        case when n <= ${OLDEST} then ${once} when n % 3 = 0 then ${often}
          else (select min(id) from app_user where name like 'Other %') + 2 * (n * 7 % ${PEOPLE}) end,
        'session', md5(n::text), '192.0.2.' || n % 250,
        case when n % 1000 = 0 then 'api-token/create' when n <= ${OLDEST} then 'role/edit'
          when n % 2 = 0 then 'docker-container/start' else 'instance-rented/stop' end,
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
