import { asMicro, MICRO, type Micro } from '@stagi/contract/money.ts';
import { sql } from 'kysely';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { JOURNAL_KINDS, type JournalKind } from '../db/journalKinds.ts';
import { MEMBER_ROLE } from '../db/memberRole.ts';
import type { Db } from '../db/schema.ts';
import { accountOf, revenueOf } from './accounts.ts';
import { capture, hold, release } from './holds.ts';
import { inLedgerTransaction, type Line, post, reverse } from './ledger.ts';
import { lockBalances, spend, spendingLines, split, sumOf } from './spendOrder.ts';
import { type Books, move, openBooks, units } from './testing/books.ts';

let books: Books;
let db: Db;
let made = 0;
const aWorkspace: Books['aWorkspace'] = (has) => books.aWorkspace(has);

beforeAll(async () => {
  books = await openBooks();
  ({ db } = books);
});
afterAll(() => books?.close());

async function balances(id: number): Promise<Record<string, bigint>> {
  const rows = await db.selectFrom('account').select(['class', 'balance']).where('client_id', '=', id).execute();
  return Object.fromEntries(rows.map((row) => [row.class, row.balance / MICRO]));
}

async function journalOf(idemKey: string): Promise<bigint> {
  const { id } = await db.selectFrom('journal').select('id').where('idem_key', '=', idemKey).executeTakeFirstOrThrow();
  return id;
}

describe('posting', () => {
  it('books once for a key, however often and from however many sides it is asked', async () => {
    const id = await aWorkspace();
    const book = () =>
      db
        .transaction()
        .execute((trx) => post(trx, 'promo', 'same', id, move('promo', accountOf(id, 'credit'), units(5))));
    const journals = await Promise.all(Array.from({ length: 8 }, book));
    expect(new Set(journals).size).toBe(1);
    expect(await balances(id)).toMatchObject({ credit: 5n });
  });

  it('refuses the same key with other lines', async () => {
    const id = await aWorkspace({ credit: 1 });
    await expect(
      db
        .transaction()
        .execute((trx) => post(trx, 'promo', `given:${id}`, id, move('promo', accountOf(id, 'credit'), units(2)))),
    ).rejects.toThrow('was booked with other lines');
  });

  it('refuses what does not balance, goes below the minimum, or names no account', async () => {
    const id = await aWorkspace({ credit: 1 });
    const credit = accountOf(id, 'credit');
    const attempts: [JournalKind, Line[], RegExp][] = [
      [
        'promo',
        [
          { account: 'promo', amount: units(-1) },
          { account: credit, amount: units(2) },
        ],
        /does not balance/,
      ],
      ['usage', move(credit, revenueOf(id), units(2)), /account_check/],
      ['promo', move('promo', 'workspace:0:credit', units(1)), /does not balance/],
      ['promo', move('nobody', 'workspace:0:credit', units(1)), /names no account|has no lines/],
    ];
    for (const [kind, lines, message] of attempts)
      await expect(db.transaction().execute((trx) => post(trx, kind, `bad:${made++}`, id, lines))).rejects.toThrow(
        message,
      );
    expect(await balances(id)).toMatchObject({ credit: 1n });
  });

  it('lets money flow only as the kind of the journal allows, for every kind and every pair of accounts', async () => {
    const id = await aWorkspace({ credit: 1000, card: 1000, onchain: 1000 });
    await db.transaction().execute((trx) => hold(trx, id, `flows:${id}`, units(500)));
    await openFx();
    const classes = [...new Set(Object.values(JOURNAL_KINDS).flatMap(({ from, to }) => [...from, ...to]))];
    const code = (name: string): string =>
      ['credit', 'card', 'onchain', 'held'].includes(name)
        ? accountOf(id, name as 'credit')
        : name === 'revenue:usage'
          ? revenueOf(id)
          : name === 'fx'
            ? 'fx:1'
            : name;
    let allowed = 0;
    let refused = 0;
    for (const [kind, { from, to }] of Object.entries(JOURNAL_KINDS))
      for (const source of classes)
        for (const target of classes.filter((name) => name !== source)) {
          // Where neither end is right nothing new is shown.
          if (!from.some((name) => name === source) && !to.some((name) => name === target)) continue;
          const isAllowed = from.some((name) => name === source) && to.some((name) => name === target);
          const lines = move(code(source), code(target), asMicro(1n));
          const attempt = db
            .transaction()
            .execute((trx) => post(trx, kind as JournalKind, `flow:${kind}:${source}:${target}`, id, lines));
          if (isAllowed) await attempt;
          else await expect(attempt, `${kind} ${source} ${target}`).rejects.toThrow('has nothing to do with');
          if (isAllowed) allowed += 1;
          else refused += 1;
        }
    console.log(`flows: n = ${allowed} allowed, ${refused} refused`);
    expect(allowed).toBeGreaterThan(20);
    expect(refused).toBeGreaterThan(200);
  });

  it('refuses another workspace’s accounts', async () => {
    const [mine, other] = [await aWorkspace({ credit: 5 }), await aWorkspace()];
    await expect(
      db
        .transaction()
        .execute((trx) =>
          post(trx, 'usage', `steal:${mine}`, other, move(accountOf(mine, 'credit'), revenueOf(1), units(1))),
        ),
    ).rejects.toThrow('is not about the workspace');
  });

  it('refuses a journal of no kind, one without lines, and lines that come later', async () => {
    const id = await aWorkspace({ credit: 5 });
    await expect(
      db
        .transaction()
        .execute((trx) =>
          post(trx, 'gift' as JournalKind, 'gift', id, move('promo', accountOf(id, 'credit'), units(1))),
        ),
    ).rejects.toThrow('journal_kind');
    await expect(
      sql`insert into journal (kind, idem_key, lines_hash, line_count) values ('promo', 'empty', '\\x', 2)`.execute(db),
    ).rejects.toThrow('has no lines');
    await expect(
      sql`insert into posting (journal_id, line, account_id, amount)
        select j.id, 2 + row_number() over (), a.id, case when a.code = 'promo' then -1 else 1 end
        from journal j, account a where j.idem_key = ${`given:${id}`} and a.code in ('promo', ${accountOf(id, 'credit')})`.execute(
        db,
      ),
    ).rejects.toThrow('other lines than it was made of');
  });
});

describe('reversing', () => {
  it('takes a whole journal back, once', async () => {
    const id = await aWorkspace({ credit: 5 });
    const journal = await journalOf(`given:${id}`);
    const undo = () => inLedgerTransaction(db, (trx) => reverse(trx, journal, 'a mistake'));
    const [first, second] = await Promise.all([undo(), undo()]);
    expect(second).toBe(first);
    expect(await balances(id)).toMatchObject({ credit: 0n });
    await expect(inLedgerTransaction(db, (trx) => reverse(trx, first, 'again'))).rejects.toThrow('cannot be reversed');
    const shown = await db
      .selectFrom('billing_transaction')
      .select(['type', 'kind', 'amount'])
      .where('workspace_id', '=', id)
      .orderBy('id')
      .execute();
    expect(shown).toEqual([
      { type: 'Deposit', kind: 'promo', amount: units(5) },
      { type: 'Deposit', kind: 'reversal', amount: units(-5) },
    ]);
  });

  it('is done once, however many ask at the same moment', async () => {
    const rounds = 40;
    for (let round = 0; round < rounds; round += 1) {
      const id = await aWorkspace({ credit: 5 });
      const journal = await journalOf(`given:${id}`);
      const undo = () => inLedgerTransaction(db, (trx) => reverse(trx, journal, 'a mistake'));
      const reversals = await Promise.all(Array.from({ length: 6 }, undo));
      expect(new Set(reversals).size).toBe(1);
      expect(await balances(id)).toMatchObject({ credit: 0n });
    }
    console.log(`reversals at the same moment: n = ${rounds} × 6`);
  });

  it('is refused where it is not the opposite of what it undoes', async () => {
    const id = await aWorkspace({ credit: 5, card: 5 });
    const journal = await journalOf(`given:${id}`);
    await expect(
      sql`with j as (
        insert into journal (kind, idem_key, lines_hash, line_count, client_id, reverses_id)
        values ('reversal', 'half', sha256(convert_to(${`promo:1\nworkspace:${id}:credit:-1\n`}, 'UTF8')), 2, ${id}, ${journal})
        returning id)
      insert into posting (journal_id, line, account_id, amount)
      select j.id, case when code = 'promo' then 0 else 1 end, a.id, case when code = 'promo' then 1 else -1 end
      from j, account a where code in ('promo', ${accountOf(id, 'credit')})`.execute(db),
    ).rejects.toThrow('does not undo');
  });

  it('is not for holds and use, which their own kinds undo', async () => {
    const id = await aWorkspace({ onchain: 5 });
    await inLedgerTransaction(db, (trx) => hold(trx, id, `kept:${id}`, units(1)));
    const { journal_id: journal } = await db
      .selectFrom('hold')
      .select('journal_id')
      .where('workspace_id', '=', id)
      .executeTakeFirstOrThrow();
    await expect(inLedgerTransaction(db, (trx) => reverse(trx, journal, 'no'))).rejects.toThrow('cannot be reversed');
  });
});

describe('spending', () => {
  it('takes credit first, then card, then onchain, and says what nothing covers', async () => {
    const id = await aWorkspace({ credit: 1, card: 2, onchain: 3 });
    const { parts, uncollected, left } = await db.transaction().execute((trx) => spend(trx, id, units(4)));
    expect(parts).toEqual({ credit: units(1), card: units(2), onchain: units(1) });
    expect(uncollected).toBe(0n);
    expect(split(left, units(3))).toMatchObject({ parts: { onchain: units(2) }, uncollected: units(1) });
  });

  it('never spends the same money twice, whoever races', async () => {
    const id = await aWorkspace({ credit: 3, card: 3, onchain: 4 });
    let uncollected = 0n;
    await Promise.all(
      Array.from({ length: 15 }, (_, n) =>
        inLedgerTransaction(db, async (trx) => {
          const spent = await spend(trx, id, units(1));
          uncollected += spent.uncollected;
          if (sumOf(spent.parts) === 0n) return;
          await post(trx, 'usage', `race:${id}:${n}`, id, [
            ...spendingLines(id, spent.parts),
            { account: revenueOf(id), amount: sumOf(spent.parts) },
          ]);
        }),
      ),
    );
    expect(uncollected).toBe(units(5));
    expect(await balances(id)).toMatchObject({ credit: 0n, card: 0n, onchain: 0n });
  });
});

describe('holds', () => {
  it('set money aside until it leaves or comes back, once', async () => {
    const id = await aWorkspace({ credit: 10, onchain: 10 });
    const make = (key: string, amount: number) =>
      inLedgerTransaction(db, (trx) => hold(trx, id, `${key}:${id}`, units(amount), { to: '0xabc', network: 'ERC20' }));
    const [first, again] = [await make('a', 4), await make('a', 4)];
    expect(again).toBe(first);
    const second = await make('b', 6);
    // Credit never leaves.
    await expect(make('c', 1)).rejects.toThrow('does not cover this');
    expect(await balances(id)).toMatchObject({ onchain: 0n, held: 10n });
    const ends = await Promise.all([
      ...Array.from({ length: 4 }, () => inLedgerTransaction(db, (trx) => release(trx, first))),
      ...Array.from({ length: 4 }, () => inLedgerTransaction(db, (trx) => capture(trx, first))),
    ]);
    expect(ends.filter(Boolean)).toHaveLength(1);
    expect(await inLedgerTransaction(db, (trx) => capture(trx, second))).toBe(true);
    expect(await balances(id)).toMatchObject({ credit: 10n, held: 0n });
    await expect(
      db.updateTable('hold').set({ state: 'open', ended_by: null }).where('id', '=', second).execute(),
    ).rejects.toThrow('ends once');
  });
});

describe('the record', () => {
  const TABLES = ['journal', 'posting', 'ledger_seal', 'hold', 'account'] as const;

  it('cannot be changed, deleted or emptied: by the platform, by the role of calls, by one that was given everything', async () => {
    const id = await aWorkspace({ credit: 5, onchain: 1 });
    await inLedgerTransaction(db, (trx) => hold(trx, id, `record:${id}`, units(1)));
    await sql`insert into ledger_seal (day, last_journal_id, journals, prev_hash, hash) values ('2020-01-01', 0, 0, '\\x', '\\x')
      on conflict do nothing`.execute(db);
    const changes: Record<(typeof TABLES)[number], string> = {
      journal: "update journal set meta = '{}'",
      posting: 'update posting set amount = 1',
      ledger_seal: "update ledger_seal set hash = '\\x00'",
      hold: 'update hold set amount = amount + 1',
      account: 'update account set balance = balance + 1',
    };
    const role = `given_all_${process.pid}_${Date.now()}`;
    await sql.raw(`create role ${role} bypassrls; grant all on all tables in schema public to ${role}`).execute(db);
    let refused = 0;
    try {
      for (const as of [null, MEMBER_ROLE, role])
        for (const table of TABLES)
          for (const statement of [changes[table], `delete from ${table}`, `truncate ${table} cascade`]) {
            const attempt = db.transaction().execute(async (trx) => {
              if (as) await sql.raw(`set local role ${as}; set local stagi.workspace = ${id}`).execute(trx);
              await sql.raw(statement).execute(trx);
            });
            await expect(attempt, `${statement} as ${as ?? 'the platform'}`).rejects.toThrow(
              /append-only|changes never|violates|permission denied/,
            );
            refused += 1;
          }
    } finally {
      await sql.raw(`drop owned by ${role}; drop role ${role}`).execute(db);
    }
    console.log(`record: n = ${refused} refused`);
    expect(refused).toBe(45);
  });

  it('is not granted to anybody for changing', async () => {
    const { rows } = await sql<{ role: string; table: string; may: string }>`
      select r.rolname as role, t.name as table, p.name as may
      from pg_roles r, unnest(${['journal', 'posting', 'ledger_seal']}::text[]) t (name), unnest(array['UPDATE', 'DELETE', 'TRUNCATE']) p (name)
      where not r.rolsuper and not pg_has_role(r.oid, (select relowner from pg_class where oid = 'journal'::regclass), 'member')
        and has_table_privilege(r.oid, t.name, p.name) and r.rolname not like 'pg\\_%'
        and r.rolname not like 'given\\_all\\_%'`.execute(db);
    expect(rows).toEqual([]);
  });
});

it('a float, a plain integer and what no ledger can hold are no money', () => {
  // @ts-expect-error a number is no money
  const float: Micro = 1.5;
  // @ts-expect-error neither is any integer
  const plain: Micro = 15n;
  // @ts-expect-error nor what a sum of money and a number would be
  const line: Line = { account: 'promo', amount: 1 };
  expect([float, plain, line]).toHaveLength(3);
  expect(() => asMicro(1.5 as unknown as bigint)).toThrow(RangeError);
  expect(() => asMicro(2n ** 63n)).toThrow(RangeError);
});

it('locks the accounts of a workspace that it reads for spending', async () => {
  const id = await aWorkspace({ credit: 1 });
  await db.transaction().execute(async (trx) => {
    await lockBalances(trx, id);
    await expect(
      sql`select 1 from account where client_id = ${id} for no key update nowait`.execute(db),
    ).rejects.toThrow(pg.DatabaseError);
  });
});

async function openFx(): Promise<void> {
  await db
    .insertInto('account')
    .values({ code: 'fx:1', currency: 'STAGI', client_id: null, min_balance: null })
    .onConflict((conflict) => conflict.doNothing())
    .execute();
}
