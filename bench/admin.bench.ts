/**
 * The first page of long lists with a search: 1,000,000 users, as many workspaces, and a workspace of 10,000 members.
 * Each order with a rare text, a frequent one, a frequent one whose matches are last, and texts without a match.
 */
import { api } from '@stagi/contract/api.ts';
import { startTestApp } from '@stagi/server/src/testing/app.ts';
import { startTestPostgres } from '@stagi/server/src/testing/database.ts';
import { makeOperator } from '@stagi/server/src/testing/factories.ts';
import { fillQuickly, firstPages } from './million.ts';

const PEOPLE = 1_000_000;
const MEMBERS = 10_000;

const newest = { orderByField: 'createdAt' };
const byName = { orderByField: 'name', orderByDirection: 'asc' } as const;
const byEmail = { orderByField: 'email', orderByDirection: 'asc' } as const;

const postgres = await startTestPostgres();
const app = await startTestApp();
const slow: string[] = [];
try {
  const olga = await app.signUp('Olga Operator');
  await makeOperator(app.ctx, olga);
  await fill(olga.workspaceId);
  const { entities: owners } = await olga.client(api.adminUsers.list, {
    entityFilterRequest: { ...byEmail, queryString: 'zygmunt' },
  });

  const lists = [
    { list: 'users', orders: { newest, byName, byEmail }, call: api.adminUsers.list },
    { list: 'workspaces', orders: { newest, byName }, call: api.adminClients.list },
    { list: 'members', orders: { newest, byName, byEmail }, call: api.clients.members },
  ];
  for (const { list, orders, call } of lists)
    for (const [order, by] of Object.entries(orders)) {
      const texts = {
        everything: undefined,
        rare: 'zzyzx',
        frequent: 'smith',
        'frequent, last': order === 'newest' ? 'veteran' : 'zygmunt',
        none: 'nobody at all',
        'none, of frequent words': 'smith ada',
        'an address': owners[0]!.email,
      };
      for (const [name, queryString] of Object.entries(texts))
        slow.push(
          ...(await firstPages(`${list}, ${order}, ${name}`, () =>
            olga.client(call, { entityFilterRequest: { ...by, queryString } }),
          )),
        );
    }
} finally {
  await app.close();
  await postgres.stop();
}
for (const way of slow) console.log(`SLOW: ${way}`);
process.exit(slow.length > 0 ? 1 : 0);

/**
 * One in 2,000 is called Zzyzx, a fifth Smith, an eighth Zygmunt with an address that begins with z. The first eighth to
 * come is called Veteran. Each has a workspace that is called like its owner; one in a hundred belongs to `shared`.
 */
async function fill(shared: number): Promise<void> {
  await fillQuickly(
    app.databaseUrl,
    ['app_user', 'workspace', 'membership', 'account'],
    [
      `insert into app_user (email, name, created_at, email_verified_at, disabled_at)
      select case when first = 'Zygmunt' then 'zygmunt' else 'person' end || n || '@example.com', first || ' ' || last,
        now() - (${PEOPLE} - n) * (interval '1000 days' / ${PEOPLE}), case when n % 30 <> 5 then now() end,
        case when n % 50 = 13 then now() end
      from generate_series(1, ${PEOPLE}) n,
        lateral (select case when hashint4extended(n, 1) % 2000 = 0 then 'Zzyzx' when hashint4extended(n, 2) % 8 = 0 then 'Zygmunt'
            else (array['Ada', 'Grace', 'Linus', 'Edsger', 'Иван'])[1 + n % 5] end as first,
          case when n <= ${PEOPLE} / 8 then 'Veteran' when hashint4extended(n, 3) % 5 = 0 then 'Smith'
            else initcap(substr(md5(n::text), 1, 7)) end as last) called
      order by n`,
      `insert into workspace (name, plan, personal_of, created_by, created_at, disabled_at)
      select name || ' workspace', case when id % 25 = 0 then 'Team' else 'Free' end, id, id, created_at,
        case when id % 70 = 3 then now() end
      from app_user order by id on conflict do nothing`,
      `insert into membership (workspace_id, user_id, role, created_at)
      select id, personal_of, 'Owner', created_at from workspace on conflict do nothing`,
      `insert into membership (workspace_id, user_id, role, created_at)
      select ${shared}, id, case when id % 1000 = 0 then 'Admin' when id % 300 = 0 then 'Developer' else 'Guest' end, created_at
      from app_user where id % ${PEOPLE / MEMBERS} = 0 on conflict do nothing`,
      `insert into account (code, client_id, currency, balance)
      select 'workspace:' || id || ':credit', id, 'STAGI', 0 from workspace on conflict do nothing`,
    ],
  );
}
