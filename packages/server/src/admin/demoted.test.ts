import { api } from '@stagi/contract/api.ts';
import pg from 'pg';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startTestApp, type TestApp } from '../testing/app.ts';
import { aStray, haveSteppedUp, makeOperator } from '../testing/factories.ts';
import { waitsForLock } from '../testing/locks.ts';
import type { Person } from '../testing/person.ts';
import { appoint } from './appoint.ts';

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp({}, { role: 'api' });
});
afterAll(() => app?.close());

it('lets nothing more be done by an operator who is made none at that moment: no money, no machine, no locked door', async () => {
  const victim = await app.signUp('Vera');
  const stray = await aStray(app.ctx);
  const acts = {
    'a promo code': (olga: Person) =>
      olga.client(api.promoCodes.create, {
        code: 'LAST-MOMENT',
        amount: '5',
        uses: 1,
        note: '',
        expiresAt: new Date(Date.now() + 86_400_000).toISOString(),
      }),
    'a machine': (olga: Person) => olga.client(api.strays.delete, { id: stray }),
    'a person': (olga: Person) => olga.client(api.adminUsers.disable, { id: victim.userId, reason: 'the last word' }),
    'a workspace': (olga: Person) =>
      olga.client(api.adminClients.disable, { id: victim.workspaceId, reason: 'the last word' }),
  };
  let n = 0;
  for (const [what, act] of Object.entries(acts)) {
    const olga = await anOperator();
    const log = new pg.Client({ connectionString: app.databaseUrl });
    await log.connect();
    await log.query('begin');
    await log.query('insert into audit_head (chain) values (0) on conflict do nothing');
    await log.query('select 1 from audit_head where chain = 0 for update');
    const removed = appoint(app.ctx.db, 'remove', olga.email, 'the test');
    await waitsForLock(app.ctx.db, 1);
    const acted = act(olga).then(
      () => 'done',
      (error: { status: number }) => error.status,
    );
    await waitsForLock(app.ctx.db, 2);
    await log.query('commit');
    await log.end();
    expect.soft((await removed).changed, what).toBe(true);
    expect.soft(await acted, what).toBe(403);
    n += 1;
  }
  console.log(`operators made none meanwhile: n = ${n}`);
  const { rows } = await app.ctx.pg.query(
    `select 'code' as what from promo_code where code = 'LAST-MOMENT'
     union all select 'stray' from stray where id = $1 and decision is not null
     union all select 'person' from app_user where id = $2 and disabled_at is not null
     union all select 'workspace' from workspace where id = $3 and disabled_at is not null`,
    [stray, victim.userId, victim.workspaceId],
  );
  expect(rows).toEqual([]);
});

async function anOperator(): Promise<Person> {
  const olga = await app.signUp('Olga');
  await makeOperator(app.ctx, olga);
  await haveSteppedUp(app.ctx, olga);
  return olga;
}
