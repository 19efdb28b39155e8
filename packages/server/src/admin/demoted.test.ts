import { api } from '@stagi/contract/api.ts';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startTestApp, type TestApp } from '../testing/app.ts';
import { aStray, makeOperator, markSteppedUp } from '../testing/factories.ts';
import { interleave, retryOnOverload } from '../testing/interleave.ts';
import type { Person } from '../testing/person.ts';
import { setOperator } from './setOperator.ts';

/** The audit log of operators. */
const THE_PLATFORMS = 0;

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp({}, { role: 'api' });
});
afterAll(() => app?.close());

it('refuses every act of an operator whose role is revoked while the act waits', async () => {
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
    'a model': (olga: Person) => olga.client(api.adminModels.hide, { modelId: 'meta-llama/Llama-3.1-8B-Instruct' }),
    'a machine': (olga: Person) => olga.client(api.strays.delete, { id: stray }),
    'a copy of a log': (olga: Person) => olga.client(api.audit.exportForOperators, { workspaceId: victim.workspaceId }),
    'a person': (olga: Person) => olga.client(api.adminUsers.disable, { id: victim.userId, reason: 'the last word' }),
    'a workspace': (olga: Person) =>
      olga.client(api.adminClients.disable, { id: victim.workspaceId, reason: 'the last word' }),
    'a plan': (olga: Person) =>
      olga.client(api.adminClients.editPlan, { id: victim.workspaceId, plan: 'Team', quotas: {} }),
    'a credit': (olga: Person) =>
      olga.client(api.adminClients.addCredit, { id: victim.workspaceId, amount: '5', reason: 'the last word' }),
    'an account': (olga: Person) =>
      olga.client(api.adminUsers.delete, { id: victim.userId, email: victim.email, reason: 'the last word' }),
  };
  let n = 0;
  for (const [what, act] of Object.entries(acts)) {
    await retryOnOverload(async () => {
      const olga = await anOperator();
      const [removed, acted] = await interleave(
        app,
        THE_PLATFORMS,
        () => setOperator(app.ctx.db, 'remove', olga.email, 'the test'),
        () => act(olga),
      );
      expect.soft(removed, what).toMatchObject({ status: 'fulfilled', value: { changed: true } });
      expect.soft(acted, what).toMatchObject({ status: 'rejected', reason: { status: 403 } });
    });
    n += 1;
  }
  console.log(`operators made none meanwhile: n = ${n}`);
  const { rows } = await app.ctx.pg.query(
    `select 'code' as what from promo_code where code = 'LAST-MOMENT'
     union all select 'model' from catalogue_change
     union all select 'stray' from stray where id = $1 and decision is not null
     union all select 'copy' from audit where action = 'admin/audit/export'
     union all select 'person' from app_user where id = $2 and disabled_at is not null
     union all select 'workspace' from workspace where id = $3 and disabled_at is not null
     union all select 'plan' from workspace where id = $3 and plan <> 'Free'
     union all select 'credit' from journal where kind = 'grant'`,
    [stray, victim.userId, victim.workspaceId],
  );
  expect(rows).toEqual([]);
});

async function anOperator(): Promise<Person> {
  const olga = await app.signUp('Olga');
  await makeOperator(app.ctx, olga);
  await markSteppedUp(app.ctx, olga);
  return olga;
}
