import { api } from '@stagi/contract/api.ts';
import type { AuditCheck } from '@stagi/contract/audit.ts';
import { type RawBuilder, sql } from 'kysely';
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { readPlatformMetrics } from '../metrics/platformMetrics.ts';
import { startTestApp, type TestApp } from '../testing/app.ts';
import { makeOperator } from '../testing/factories.ts';
import type { Person } from '../testing/person.ts';
import { runCheck } from './checks.ts';
import { recordAct } from './record.ts';
import { type BrokenChain, countChainsAfter, verifyAllChains } from './verifyAllChains.ts';
import { verifyChain } from './verifyChain.ts';

const SOON = { timeout: 60_000, interval: 50 };

let app: TestApp;
let operator: Person;
beforeAll(async () => {
  app = await startTestApp();
  operator = await app.signUp('Olga Operator');
  await makeOperator(app.ctx, operator);
});
afterAll(() => app?.close());
beforeEach(() => app.ctx.db.deleteFrom('audit_check').execute());

/** A chain of so many entries, of a workspace that is made for it. */
async function aChain(entries: number, name = 'Chained'): Promise<number> {
  const { rows } = await sql<{ id: number }>`insert into workspace (name) values (${name}) returning id`.execute(
    app.ctx.db,
  );
  const { id } = rows[0]!;
  for (let n = 0; n < entries; n += 1)
    await recordAct(
      app.ctx.db,
      { user: null, credential: null, workspace: { id }, ip: null, userAgent: null },
      { action: 'client/edit', outcome: 'done', detail: { n } },
    );
  return id;
}

/** Changes made as a database superuser could. */
async function behindItsBack(...changes: RawBuilder<unknown>[]): Promise<void> {
  await app.ctx.db.transaction().execute(async (trx) => {
    for (const table of ['audit', 'audit_head'] as const)
      await sql`alter table ${sql.table(table)} disable trigger user`.execute(trx);
    for (const change of changes) await change.execute(trx);
    for (const table of ['audit', 'audit_head'] as const)
      await sql`alter table ${sql.table(table)} enable trigger user`.execute(trx);
  });
}

const ended = (id: number): Promise<AuditCheck> =>
  vi.waitFor(async () => {
    const { entities } = await operator.client(api.audit.listChecks, {});
    const check = entities.find((one) => one.id === id);
    expect(check?.endedAt).toBeTypeOf('string');
    return check!;
  }, SOON);

const ask = async (): Promise<AuditCheck> => (await operator.client(api.audit.checkAll, {})).entity;

describe('a check of all audit logs', () => {
  it('is shared by all who request one while it runs, shows its progress, and is recorded', async () => {
    await aChain(3);
    const { rows } = await sql<{ id: number }>`
      insert into audit_check (cause, asked_by, deadline_at)
      values ('operator', ${operator.userId}, now() + interval '1 hour') returning id`.execute(app.ctx.db);
    const { id } = rows[0]!;
    const asked = await Promise.all(Array.from({ length: 4 }, ask));
    expect(asked.map((one) => [one.id, one.status])).toEqual(asked.map(() => [id, 'in queue']));
    const { entities } = await operator.client(api.audit.listForOperators, {});
    expect(entities.filter(({ action }) => action === api.audit.checkAll.path)).toHaveLength(4);

    await runCheck(app.ctx, id);
    const { chains, entries } = await countChainsAfter(app.ctx.db, -1);
    expect(await ended(id)).toMatchObject({
      status: 'whole',
      cause: 'operator',
      askedBy: { name: 'Olga Operator' },
      logs: chains,
      logsToDo: chains,
      entries,
      entriesToDo: entries,
      brokenLogs: 0,
      findings: [],
    });
    expect(entries).toBeGreaterThanOrEqual(7);
    expect((await operator.client(api.audit.listChecks, {})).lastIsWhole).toBe(true);
    expect((await readPlatformMetrics(app.ctx.db, false)).audit).toMatchObject({ whole: true });
  });

  it('names each broken log and its first broken entry, as the check of that one log does', async () => {
    const { db } = app.ctx;
    const of = (chain: number) => sql`chain = ${sql.lit(chain)}`;
    const ways: Record<string, (chain: number) => [number, ...RawBuilder<unknown>[]]> = {
      changed: (chain) => [3, sql`update audit set ip = '192.0.2.1' where ${of(chain)} and seq = 3`],
      'changed, with a hash of its own': (chain) => [
        4,
        sql`update audit a set ip = '192.0.2.1' where ${of(chain)} and seq = 3`,
        sql`update audit a set hash = audit_hash(a) where ${of(chain)} and seq = 3`,
      ],
      'left out': (chain) => [4, sql`delete from audit where ${of(chain)} and seq = 4`],
      'cut off at its beginning': (chain) => [1, sql`delete from audit where ${of(chain)} and seq < 3`],
      'cut off at its end': (chain) => [6, sql`delete from audit where ${of(chain)} and seq = 6`],
      'all of it gone': (chain) => [1, sql`delete from audit where ${of(chain)}`],
      'another end': (chain) => [6, sql`update audit_head set hash = sha256('x') where ${of(chain)}`],
      'put in before what is kept': (chain) => [
        2,
        sql`update audit_head set first_seq = 4,
          first_prev_hash = (select hash from audit where ${of(chain)} and seq = 3) where ${of(chain)}`,
        sql`delete from audit where ${of(chain)} and seq in (1, 3)`,
      ],
      'without an end': (chain) => [1, sql`delete from audit_head where ${of(chain)}`],
      whole: () => [0],
    };
    const chains: { chain: number; way: string; broken: number }[] = [];
    for (const [way, tamper] of Object.entries(ways)) {
      const chain = await aChain(6, `Log ${way}`);
      const [broken, ...changes] = tamper(chain);
      await behindItsBack(...changes);
      chains.push({ chain, way, broken });
    }
    const expected = chains
      .filter(({ broken }) => broken > 0)
      .map(({ chain, broken }): BrokenChain => ({ chain, entry: broken }));
    for (const { chain, way, broken } of chains) {
      const alone = await verifyChain(db, chain, null, 4);
      // Four at a time: what is wrong may lie in the second part.
      const rest = alone.next === null ? alone : await verifyChain(db, chain, alone.next, 4);
      expect.soft(rest.broken ?? 0, `${way}, alone`).toBe(broken);
    }
    for (const atOnce of [
      { entries: 10_000, chains: 2_000 },
      { entries: 13, chains: 3 },
      { entries: 4, chains: 1 },
    ]) {
      const found: BrokenChain[] = [];
      let entries = 0;
      let last = -1;
      for await (const part of verifyAllChains(db, -1, atOnce)) {
        expect(part.behind).toBeGreaterThanOrEqual(last);
        last = part.behind;
        entries += part.entries;
        found.push(...part.broken);
      }
      expect.soft(found, JSON.stringify(atOnce)).toEqual(expected);
      expect(entries).toBeGreaterThan(0);
    }
    const { id } = await ask();
    const check = await ended(id);
    expect(check).toMatchObject({ status: 'broken', brokenLogs: expected.length });
    expect(check.findings).toEqual(
      chains
        .filter(({ broken }) => broken > 0)
        .map(({ chain, way, broken }) => ({ workspace: { id: chain, name: `Log ${way}` }, entry: broken })),
    );
    expect((await operator.client(api.audit.listChecks, {})).lastIsWhole).toBe(false);
    expect((await readPlatformMetrics(db, false)).audit).toMatchObject({ whole: false });
    console.log(
      `tampered logs: n = ${expected.length}, all named; ${chains.length - expected.length} whole, not named`,
    );
    expect(expected.length).toBeGreaterThan(0);
    const all = sql.join(chains.map(({ chain }) => chain));
    await behindItsBack(
      sql`delete from audit where chain in (${all})`,
      sql`delete from audit_head where chain in (${all})`,
    );
  });

  it('resumes where another process died, and keeps its findings', async () => {
    const first = await aChain(2);
    const second = await aChain(3);
    const { chains, entries } = await countChainsAfter(app.ctx.db, first);
    const { rows } = await sql<{ id: number }>`
      insert into audit_check (cause, deadline_at, started_at, behind_chain, chains, entries, broken_chains, findings)
      values ('cron', now() + interval '1 minute', now(), ${first}, 100, 1000, 1, ${JSON.stringify([{ chain: first, entry: 2 }])})
      returning id`.execute(app.ctx.db);
    const { id } = rows[0]!;
    expect(second).toBeGreaterThan(first);
    await runCheck(app.ctx, id);
    expect(await ended(id)).toMatchObject({
      status: 'broken',
      cause: 'cron',
      askedBy: null,
      logs: 100 + chains,
      logsToDo: 100 + chains,
      entries: 1000 + entries,
      findings: [{ workspace: { id: first, name: 'Chained' }, entry: 2 }],
    });
    // It has ended: running it once more changes nothing.
    await runCheck(app.ctx, id);
    expect(await ended(id)).toMatchObject({ logs: 100 + chains });
  });

  it('is failed past its deadline, and another can be requested', async () => {
    const { rows } = await sql<{ id: number }>`
      insert into audit_check (cause, deadline_at, started_at)
      values ('cron', now() - interval '1 second', now() - interval '3 minutes') returning id`.execute(app.ctx.db);
    const late = rows[0]!.id;
    const listed = async (statuses?: string[]) =>
      (await operator.client(api.audit.listChecks, { entityFilterRequest: { statuses } })).entities;
    expect(await listed()).toMatchObject([{ id: late, status: 'failed', endedAt: expect.any(String) }]);
    await runCheck(app.ctx, late);
    expect(await listed(['failed'])).toMatchObject([{ id: late, logs: 0 }]);
    expect((await operator.client(api.audit.listChecks, {})).lastIsWhole).toBeNull();
    const next = await ask();
    expect(next.id).not.toBe(late);
    expect(await ended(next.id)).toMatchObject({ status: 'whole' });
    expect((await listed(['failed', 'whole'])).map(({ id }) => id)).toEqual([next.id, late]);
  });
});

describe('operators', () => {
  it('check and export one log, or their own, as its members could', async () => {
    const walter = await app.signUp('Walter');
    await walter.client(api.sshKeys.generate, { title: 'laptop' });
    const { workspaceId } = walter;
    const own = await walter.client(api.audit.export, {});
    expect(await operator.client(api.audit.exportForOperators, { workspaceId })).toEqual(own);
    expect(await operator.client(api.audit.verifyForOperators, { workspaceId })).toEqual(
      await walter.client(api.audit.verify, {}),
    );
    const { csv } = await operator.client(api.audit.exportForOperators, { outcomes: ['done'] });
    expect(csv).toContain(`,${api.audit.checkAll.path},`);
    expect(csv).not.toContain('ssh-key/generate');
    expect(await operator.client(api.audit.verifyForOperators, {})).toMatchObject({ broken: null, next: null });
    for (const call of [api.audit.exportForOperators, api.audit.verifyForOperators])
      await expect(operator.client(call, { workspaceId: 999_999_999 })).rejects.toMatchObject({
        status: 400,
        body: { message: 'This workspace cannot be found', fieldsWithError: ['workspaceId'] },
      });
  });
});
