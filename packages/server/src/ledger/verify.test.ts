import { asMicro } from '@stagi/contract/money.ts';
import { sql } from 'kysely';
import pino from 'pino';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { hold, release } from '../billing/holds.ts';
import { inLedgerTransaction } from '../billing/ledger.ts';
import { type Books, charge, openBooks, units } from '../billing/testing/books.ts';
import type { Db } from '../db/schema.ts';
import { sealYesterday } from './seal.ts';
import { tampered } from './testing/tamper.ts';
import { verifyLedger } from './verify.ts';

const log = pino({ level: 'silent' });

let books: Books;
let db: Db;
let workspace: number;
let other: number;

beforeAll(async () => {
  books = await openBooks();
  ({ db } = books);
  workspace = await books.aWorkspace({ credit: 10, card: 10, onchain: 10 });
  other = await books.aWorkspace({ credit: 3 });
  for (let n = 0; n < 20; n += 1) await charge(db, workspace, `charge:${n}`, units(1));
  await inLedgerTransaction(db, (trx) => hold(trx, workspace, 'a', units(2)));
  const second = await inLedgerTransaction(db, (trx) => hold(trx, workspace, 'b', units(1)));
  await inLedgerTransaction(db, (trx) => release(trx, second));
});
afterAll(() => books?.close());

it('finds nothing wrong with what the platform booked, sealed or not', async () => {
  const before = await verifyLedger(db);
  expect(before).toMatchObject({ problems: 0, findings: [], journals: 27, journalsToDo: 27 });
  expect(before.counts).toMatchObject({ journals: 27, holds: 2, workspaces: 2 });
  expect(await sealYesterday({ db, log })).toBe(true);
  expect(await sealYesterday({ db, log })).toBe(false);
  const after = await verifyLedger(db);
  expect(after).toMatchObject({ problems: 0, counts: { seals: 1 } });
});

it('chains each seal to the one before, over what was booked since', async () => {
  await tampered(db, [`update ledger_seal set day = day - 1`], async (trx) => {
    await charge(trx, workspace, 'after the first seal', units(1));
    expect(await sealYesterday({ db: trx, log })).toBe(true);
    const { rows } = await sql<{ follows: boolean; journals: bigint }>`
      select b.prev_hash = a.hash as follows, b.journals from ledger_seal a, ledger_seal b where a.day < b.day`.execute(
      trx,
    );
    expect(rows).toEqual([{ follows: true, journals: 1n }]);
  });
});

it('names the row when one byte of it was changed behind the back of the database', async () => {
  const { rows: journals } = await sql<{ id: string; first: string }>`
    select max(id)::text as id, min(id)::text as first from journal where kind = 'plan'`.execute(db);
  const { id, first } = journals[0]!;
  const credit = `workspace:${workspace}:credit`;
  const changes: [string, string[], RegExp][] = [
    [
      'an amount',
      [`update posting set amount = amount + 1 where journal_id = ${id} and line = 0`],
      new RegExp(`journal ${id} .*lines`),
    ],
    [
      'both amounts',
      [`update posting set amount = amount * 2 where journal_id = ${id}`],
      new RegExp(`journal ${id} .*lines`),
    ],
    [
      'a line left out',
      [`delete from posting where journal_id = ${id} and line = 1`],
      new RegExp(`journal ${id} .*lines`),
    ],
    [
      'a line for another account',
      [
        `update posting set account_id = (select id from account where code = 'promo') where journal_id = ${id} and line = 0`,
      ],
      new RegExp(`journal ${id} .*lines`),
    ],
    [
      'what it was about',
      [`update journal set meta = '{"a": 1}' where id = ${id}`],
      new RegExp(`journal ${id} it is not what`),
    ],
    [
      'when it was',
      [`update journal set created_at = created_at + interval '1 microsecond' where id = ${id}`],
      new RegExp(`journal ${id} it is not what`),
    ],
    [
      'its key',
      [`update journal set idem_key = 'another' where id = ${id}`],
      new RegExp(`journal ${id} it is not what`),
    ],
    [
      'a balance',
      [`update account set balance = balance + 1 where code = '${credit}'`],
      new RegExp(`account ${credit} its balance`),
    ],
    [
      'two balances',
      [
        `update account set balance = balance + 1 where code = '${credit}'`,
        `update account set balance = balance - 1 where code = 'promo'`,
      ],
      new RegExp(`account ${credit} its balance`),
    ],
    [
      'a journal with its hash, as somebody would who knows how',
      [
        `update journal set meta = '{"a": 1}' where id = ${first}`,
        `update journal j set hash = journal_hash(j) where id = ${first}`,
      ],
      /ledger_seal \d{4}-\d\d-\d\d what was booked/,
    ],
    [
      'a whole journal left out',
      [
        `delete from billing_transaction where journal_id = ${first}`,
        `update account a set balance = balance - p.amount from posting p where p.journal_id = ${first} and p.account_id = a.id`,
        `delete from posting where journal_id = ${first}`,
        `delete from journal where id = ${first}`,
      ],
      /ledger_seal/,
    ],
    ['a seal', [`update ledger_seal set hash = sha256('x')`], /ledger_seal/],
    [
      'what is held',
      [`update hold set amount = amount + 1 where state = 'open'`],
      /account workspace:\d+:held it holds/,
    ],
    ['how a hold ended', [`update hold set state = 'captured' where state = 'released'`], /hold \d+ its journals/],
    [
      'what is shown',
      [`update billing_transaction set amount = amount + 1 where journal_id = ${id}`],
      new RegExp(`billing_transaction workspace ${workspace}`),
    ],
    [
      'how many are shown',
      [`update billing_transaction_count set n = n + 1 where workspace_id = ${workspace} and type = 'Spending'`],
      /billing_transaction_count/,
    ],
    [
      'on which day they are shown',
      [`update billing_transaction_count set day = day - 400 where workspace_id = ${workspace} and type = 'Spending'`],
      new RegExp(`billing_transaction_count workspace ${workspace} .* days of a type`),
    ],
  ];
  for (const [what, statements, expected] of changes)
    await tampered(db, statements, async (trx) => {
      const { findings, problems } = await verifyLedger(trx);
      expect
        .soft(findings.map(({ about, id: row, problem }) => `${about} ${row} ${problem}`).join('\n'), what)
        .toMatch(expected);
      expect.soft(problems, what).toBeGreaterThan(0);
    });
  console.log(`changes behind the database: ${changes.length} of n = ${changes.length} detected`);
  expect((await verifyLedger(db)).problems).toBe(0);
});

it('keeps nobody from booking while it reads, and holds against itself what was there when it began', async () => {
  const journals = async () =>
    (await sql<{ n: number }>`select count(*)::int as n from journal`.execute(db)).rows[0]!.n;
  const before = await journals();
  let booked = 0;
  // Told in the middle of its reading: whoever had to wait for it would wait for ever.
  const verdict = await verifyLedger(db, async () => {
    await charge(db, workspace, `meanwhile:${booked}`, asMicro(1n));
    const id = await inLedgerTransaction(db, (trx) => hold(trx, workspace, `meanwhile:${booked}`, asMicro(1n)));
    await inLedgerTransaction(db, (trx) => release(trx, id));
    booked += 3;
  });
  console.log(`booked while the verifier reads: n = ${booked}`);
  expect(booked).toBeGreaterThan(0);
  expect(verdict).toMatchObject({ problems: 0, journals: before });
  expect(await journals()).toBe(before + booked);
  expect((await verifyLedger(db)).problems).toBe(0);
});

it('waits with a seal for who books, and holds up nobody who comes after', async () => {
  const end = async () => (await sql<{ last: bigint }>`select ledger_end() as last`.execute(db)).rows[0]!.last;
  const newest = async () => (await sql<{ id: bigint }>`select max(id) as id from journal`.execute(db)).rows[0]!.id;
  const before = await newest();
  const booked = Promise.withResolvers<void>();
  const mayCommit = Promise.withResolvers<void>();
  const booking = inLedgerTransaction(db, async (trx) => {
    await hold(trx, workspace, 'slow', units(1));
    booked.resolve();
    await mayCommit.promise;
  });
  await booked.promise;
  let isSealed = false;
  const sealing = end().then((last) => {
    isSealed = true;
    return last;
  });
  const waits = async () =>
    (
      await sql`select from pg_stat_activity where datname = current_database()
        and query like 'select ledger_end%' and wait_event = 'PgSleep'`.execute(db)
    ).rows.length;
  await expect.poll(waits).toBe(1);
  await charge(db, other, 'meanwhile', units(1));
  expect(isSealed).toBe(false);
  mayCommit.resolve();
  await booking;
  const sealed = await sealing;
  expect(sealed).toBeGreaterThan(before);
  expect(await newest()).toBeGreaterThan(sealed);
  expect(await end()).toBe(await newest());
});
