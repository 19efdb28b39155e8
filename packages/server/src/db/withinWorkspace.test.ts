import { asMicro } from '@stagi/contract/money.ts';
import { sql } from 'kysely';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { accountOf } from '../billing/accounts.ts';
import { post } from '../billing/ledger.ts';
import { startTestApp, type TestApp } from '../testing/app.ts';
import { aRentedInstance } from '../testing/factories.ts';
import type { Person } from '../testing/person.ts';
import { memberUrl } from './memberRole.ts';
import { inTransaction, openPool, type Pool } from './pool.ts';
import type { Db } from './schema.ts';
import { withinWorkspace } from './withinWorkspace.ts';

const WORKSPACES = 4;
const EACH = 200;
/** Callers of each workspace; not divisible by the number of query styles, so that those alternate. */
const AT_ONCE = 5;
/** Fewer connections than callers, so that every connection serves all workspaces. */
const CONNECTIONS = 3;

describe('a handle on one workspace', () => {
  let app: TestApp;
  let people: Person[];
  let pool: Pool;
  beforeAll(async () => {
    app = await startTestApp();
    people = await Promise.all(Array.from({ length: WORKSPACES }, () => app.signUp()));
    for (const person of people) for (let n = 0; n < 3; n += 1) await aRentedInstance(app.ctx, person);
    pool = openPool(memberUrl(app.databaseUrl), { max: CONNECTIONS });
  });
  afterAll(async () => {
    await pool?.close();
    await app?.close();
  });

  it('shows only its own rows, however the statements of many share connections', async () => {
    let asked = 0;
    const callers = people.flatMap((person) =>
      Array.from({ length: AT_ONCE }, async (_, caller) => {
        for (let n = caller; n < EACH; n += AT_ONCE) {
          await ask(withinWorkspace(pool.pg, person.workspaceId), person, n);
          asked += 1;
        }
      }),
    );
    await Promise.all(callers);
    expect(asked).toBe(WORKSPACES * EACH);
    await nothingIsLeft();
    console.log(`shared connections: n = ${asked} requests of ${WORKSPACES} workspaces on ${CONNECTIONS}`);
  });

  /** One of the query styles of calls. */
  async function ask(db: Db, { workspaceId }: Person, n: number): Promise<void> {
    const seen = async (on: Db) => {
      const rows = await on.selectFrom('instance').select('workspace_id').execute();
      expect(rows).toEqual(Array.from({ length: 3 }, () => ({ workspace_id: workspaceId })));
    };
    if (n % 4 === 0) return seen(db);
    if (n % 4 === 1) return inTransaction(db, (trx) => seen(trx).then(() => seen(trx)));
    if (n % 4 === 2) {
      const broken = inTransaction(db, async (trx) => {
        await seen(trx);
        await sql`select 1 / 0`.execute(trx);
      });
      return expect(broken).rejects.toMatchObject({ code: '22012' });
    }
    await expect(sql`select ${'no number'}::int`.execute(db)).rejects.toMatchObject({ code: '22P02' });
    return seen(db);
  }

  async function nothingIsLeft(): Promise<void> {
    const clients = await Promise.all(Array.from({ length: CONNECTIONS }, () => pool.pg.connect()));
    try {
      for (const client of clients) {
        const { rows } = await client.query(`select coalesce(current_setting('stagi.workspace', true), '') as left,
          (select count(*)::int from instance) as seen`);
        expect(rows).toEqual([{ left: '', seen: 0 }]);
      }
    } finally {
      for (const client of clients) client.release();
    }
  }

  it('returns rows, counts and errors like a plain handle', async () => {
    const [person] = people;
    const db = withinWorkspace(pool.pg, person!.workspaceId);
    const plain = app.ctx.db;
    for (const statement of [
      sql`select 1 as one, null as none, ${12n}::bigint as big, ${'a'}::text as text, ${Buffer.from([1])}::bytea as bytes`,
      sql`select generate_series(1, 3) as n`,
      sql`select where false`,
      sql`select`,
      sql`update ssh_key set title = 'x' where id = 0`,
      sql`create temporary table if not exists t (id int) on commit drop`,
    ]) {
      expect(await statement.execute(db)).toEqual(await statement.execute(plain));
    }
    const change = (on: Db) =>
      on.updateTable('instance').set({ title: 'changed' }).where('workspace_id', '=', person!.workspaceId).execute();
    expect(await change(db)).toEqual(await change(plain));
    expect(await change(db)).toMatchObject([{ numUpdatedRows: 3n }]);
    for (const broken of [sql`select nothing`, sql`selec`, sql`select ${'x'}::int`, sql`select 1; select 2`]) {
      const error: unknown = await broken.execute(db).then(
        () => null,
        (reason: unknown) => reason,
      );
      expect(error).toBeInstanceOf(pg.DatabaseError);
    }
    expect((await sql<{ n: number }>`select 1 as n`.execute(db)).rows).toEqual([{ n: 1 }]);
  });

  it('books from and to accounts of the platform, which it cannot read', async () => {
    const [person] = people;
    const { workspaceId } = person!;
    const db = withinWorkspace(pool.pg, workspaceId);
    const amount = asMicro(5_000_000n);
    const lines = [
      { account: 'promo', amount: asMicro(-amount) },
      { account: accountOf(workspaceId, 'credit'), amount },
    ];
    const journal = await inTransaction(db, (trx) => post(trx, 'promo', 'within', workspaceId, lines));
    expect(await inTransaction(db, (trx) => post(trx, 'promo', 'within', workspaceId, lines))).toBe(journal);
    expect(await db.selectFrom('account').select('id').where('code', '=', 'promo').execute()).toEqual([]);
    const elsewhere = lines.with(1, { account: accountOf(people[1]!.workspaceId, 'credit'), amount });
    await expect(inTransaction(db, (trx) => post(trx, 'promo', 'other', workspaceId, elsewhere))).rejects.toThrow(
      /is not about the workspace of/,
    );
  });

  it('keeps its workspace over savepoints, and leaves nothing of it after a failed commit', async () => {
    const [person, other] = people;
    const db = withinWorkspace(pool.pg, person!.workspaceId);
    const count = async (on: Db) => (await on.selectFrom('instance').select('id').execute()).length;
    const trx = await db.startTransaction().execute();
    const saved = await trx.savepoint('here').execute();
    await expect(sql`select 1 / 0`.execute(saved)).rejects.toMatchObject({ code: '22012' });
    await saved.rollbackToSavepoint('here').execute();
    expect(await count(trx)).toBe(3);
    await trx.rollback().execute();
    // Deferred: checked at commit.
    const empty = inTransaction(db, (open) =>
      open
        .insertInto('journal')
        .values({
          kind: 'promo',
          idem_key: 'empty',
          lines_hash: Buffer.from([1]),
          line_count: 2,
          client_id: person!.workspaceId,
        })
        .execute(),
    );
    await expect(empty).rejects.toThrow(/has no lines/);
    expect(await count(withinWorkspace(pool.pg, other!.workspaceId))).toBe(3);
    await nothingIsLeft();
  });
});
