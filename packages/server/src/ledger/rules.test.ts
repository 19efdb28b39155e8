import type { Finding } from '@stagi/contract/ledger.ts';
import { asMicro, MICRO } from '@stagi/contract/money.ts';
import { sql } from 'kysely';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { accountOf, revenueOf } from '../billing/accounts.ts';
import { capture, hold, release } from '../billing/holds.ts';
import { inLedgerTransaction, type Line, post, reverse } from '../billing/ledger.ts';
import { aWorkspaceWith, serversOf } from '../billing/meteredWorkspace.ts';
import { meterWorkspace } from '../billing/meterWorkspace.ts';
import { quiet as log, type MeteredBooks, openMeteredBooks, SECOND } from '../billing/testing/meteredBooks.ts';
import type { JournalKind } from '../db/journalKinds.ts';
import { sealYesterday } from './seal.ts';
import { tampered } from './testing/tamper.ts';
import { verifyLedger } from './verify.ts';

/** The six rules of the verifier, and what workspaces are shown. */
type Rule = 'a' | 'b' | 'c' | 'd' | 'e' | 'f' | 'shown';

let books: MeteredBooks;
let rich: number;
let poor: number;
/** Intervals: one goes on, one came to nothing after it was paid, one was lost, one came to nothing that nobody paid. */
let steady: bigint;
let failed: bigint;
let lost: bigint;
let forgiven: bigint;

beforeAll(async () => {
  books = await openMeteredBooks();
  await meterThem();
  await bookBeside();
  expect(await sealYesterday({ db: books.db, log })).toBe(true);
});
afterAll(() => books?.close());

async function meterThem(): Promise<void> {
  const { db } = books;
  const [owner, debtor] = [
    await aWorkspaceWith(db, { credit: 30_000n, card: 90n * MICRO, onchain: 90n * MICRO }),
    await aWorkspaceWith(db, { credit: 60_001n }),
  ];
  [rich, poor] = [owner.workspaceId, debtor.workspaceId];
  const [steadyId, failedId, lostId] = await serversOf(db, owner, 3);
  const [payingId, forgivenId] = await serversOf(db, debtor, 2);
  const meter = async () => {
    for (const id of [rich, poor]) await meterWorkspace(db, id);
  };
  for (const id of [steadyId!, failedId!, lostId!, payingId!, forgivenId!]) {
    await books.at(0, id, 'creating', 'creating');
    await books.at(0, id, 'creating', 'running');
  }
  for (const id of [steadyId!, lostId!, payingId!]) await books.at(0, id, 'online', 'running');
  for (const seconds of [20, 60]) {
    await books.setClock(seconds * SECOND);
    await meter();
  }
  for (const id of [failedId!, forgivenId!]) await books.at(70 * SECOND, id, 'creation failed');
  await books.at(75 * SECOND, lostId!, 'online', 'running');
  await books.setClock(100 * SECOND);
  await meter();
  await books.at(110 * SECOND, lostId!, 'error', null);
  await books.setClock(3_600 * SECOND);
  await meter();
  const segmentOf = async (id: number | undefined) =>
    (await sql<{ id: bigint }>`select id from segment where kind = 'instance' and resource_id = ${id}`.execute(db))
      .rows[0]!.id;
  [steady, failed, lost, forgiven] = [
    await segmentOf(steadyId),
    await segmentOf(failedId),
    await segmentOf(lostId),
    await segmentOf(forgivenId),
  ];
}

/** What touches the same accounts without being use, and what is undone as a whole. */
async function bookBeside(): Promise<void> {
  const book = (kind: JournalKind, workspace: number | null, lines: [string, bigint][]): Promise<bigint> =>
    inLedgerTransaction(books.db, (trx) =>
      post(
        trx,
        kind,
        `beside:${kind}:${lines[0]![1]}`,
        workspace,
        lines.map(([account, amount]): Line => ({ account, amount: asMicro(amount) })),
      ),
    );
  const undo = (id: bigint) => inLedgerTransaction(books.db, (trx) => reverse(trx, id, 'a mistake'));
  await book('writeoff', null, [
    ['writeoff', -7n],
    [revenueOf(3), 7n],
  ]);
  await undo(
    await book('writeoff', null, [
      ['writeoff', -11n],
      [revenueOf(3), 11n],
    ]),
  );
  await undo(
    await book('promo', poor, [
      ['promo', -5n],
      [accountOf(poor, 'credit'), 5n],
    ]),
  );
  await undo(
    await book('plan', rich, [
      [accountOf(rich, 'card'), -13n],
      ['revenue:plan', 13n],
    ]),
  );
  await book('chargeback', rich, [
    [accountOf(rich, 'card'), -17n],
    ['writeoff', -19n],
    ['world:deposit', 36n],
  ]);
  const holds: bigint[] = [];
  for (const n of [1, 2, 3])
    holds.push(await inLedgerTransaction(books.db, (trx) => hold(trx, rich, `hold:${n}`, asMicro(BigInt(n)))));
  await inLedgerTransaction(books.db, (trx) => release(trx, holds[0]!));
  await inLedgerTransaction(books.db, (trx) => capture(trx, holds[1]!));
}

const said = (findings: readonly Finding[]): string =>
  findings.map(({ about, id, problem }) => `${about} ${id} ${problem}`).join('\n');

it('finds nothing wrong with use that was given back, forgiven or cannot be paid, nor with what was undone', async () => {
  const { rows } = await sql<
    Record<string, bigint>
  >`select sum(refunded)::bigint as refunded, sum(forgiven)::bigint as forgiven,
    sum(uncollected)::bigint as uncollected, count(*) filter (where voided) as voided from segment`.execute(books.db);
  expect(rows[0]).toMatchObject({ refunded: 60_000n + 25_000n + 20_000n, forgiven: 40_000n, voided: 2n });
  expect(rows[0]!.uncollected! > 40_000n).toBe(true);
  const { findings, counts } = await verifyLedger(books.db);
  expect(findings).toEqual([]);
  expect(counts).toMatchObject({ segments: 5, refunds: 3, holds: 3, seals: 1, workspaces: 2 });
});

it('holds each rule by itself, and names the row', async () => {
  const forged = `(select id from journal where idem_key = 'forged')`;
  const cases: { rule: Rule; what: string; statements: string[]; expected: RegExp }[] = [
    {
      rule: 'a',
      what: 'a journal that makes money, with every hash as it should be',
      statements: [
        `insert into journal (kind, idem_key, lines_hash, line_count, hash) values ('deposit', 'forged', '\\x', 2, '\\x')`,
        `insert into posting (journal_id, line, account_id, amount)
          select ${forged}, row_number() over (order by code) - 1, id, 1 from account where code in ('promo', 'world:payout')`,
        `update journal j set lines_hash = lines_hash_of(j.id) where idem_key = 'forged'`,
        `update journal j set hash = journal_hash(j) where idem_key = 'forged'`,
        `update account set balance = balance + 1 where code in ('promo', 'world:payout')`,
      ],
      expected: /^journal \d+ it does not balance\ncurrency STAGI all balances together are 2$/,
    },
    {
      rule: 'b',
      what: 'two balances that are not their postings',
      statements: [
        `update account set balance = balance + 1 where code = 'promo'`,
        `update account set balance = balance - 1 where code = 'world:payout'`,
      ],
      expected:
        /account promo its balance is .*\n?.*account world:payout its balance|account world:payout its balance is .*\n?.*account promo its balance/,
    },
    {
      rule: 'c',
      what: 'an account that holds less than it must',
      statements: [
        'alter table account drop constraint account_check',
        `update account set min_balance = balance + 1 where code = '${accountOf(rich, 'card')}'`,
      ],
      expected: new RegExp(`^account ${accountOf(rich, 'card')} its balance of \\d+ is below \\d+$`),
    },
    {
      rule: 'd',
      what: 'a hold that is more than what is held',
      statements: [`update hold set amount = amount + 1 where state = 'open'`],
      expected: new RegExp(`account ${accountOf(rich, 'held')} it holds 3, open holds are 4\nhold \\d+ it is not what`),
    },
    {
      rule: 'd',
      what: 'two holds that are wrong and add up',
      statements: [
        `insert into hold (workspace_id, amount, journal_id) select ${rich}, 1, min(id) from journal where kind = 'usage'`,
        `update hold set amount = amount - 1 where amount = 3`,
      ],
      expected: /^hold \d+ it is not what its journals moved\nhold \d+ its journals are not those of its state$/,
    },
    {
      rule: 'e',
      what: 'a price that is not what was charged',
      statements: [`update segment set price = price - 1 where id = ${steady}`],
      expected: new RegExp(`^segment ${steady} it was not charged what its time costs$`),
    },
    {
      rule: 'f',
      what: 'a sealed journal that was changed with its hash',
      statements: [
        `update journal set meta = '{"a": 1}' where idem_key = 'refund:${failed}'`,
        `update journal j set hash = journal_hash(j) where idem_key = 'refund:${failed}'`,
      ],
      expected: /^ledger_seal \d{4}-\d\d-\d\d what was booked until then is not what was sealed$/,
    },
    {
      rule: 'f',
      what: 'a journal that was changed without it',
      statements: [`update journal set idem_key = 'refund:0' where idem_key = 'refund:${failed}'`],
      expected: /^journal \d+ it is not what it was when it was booked\nledger_seal .* not what was sealed$/,
    },
    {
      rule: 'shown',
      what: 'a transaction that shows another amount',
      statements: [
        `update billing_transaction set amount = amount + 1 where workspace_id = ${rich} and kind = 'chargeback'`,
      ],
      expected: new RegExp(`^billing_transaction workspace ${rich} .* are shown`),
    },
  ];
  for (const { rule, what, statements, expected } of cases)
    await tampered(books.db, statements, async (trx) => {
      const { findings } = await verifyLedger(trx);
      expect.soft(said(findings), what).toMatch(expected);
      expect.soft([...new Set(findings.map(ruleOf))], `${what}: ${said(findings)}`).toEqual([rule]);
    });
  console.log(`rules of the verifier, each alone: n = ${cases.length}`);
  expect(new Set(cases.map(({ rule }) => rule)).size).toBe(7);
});

it('names what was given back or forgiven otherwise than it was booked', async () => {
  const changes: [string, RegExp][] = [
    [
      `update segment set refunded = refunded - 1 where id = ${lost}`,
      new RegExp(`segment ${lost} what was given back`),
    ],
    [`update segment set forgiven = 0 where id = ${forgiven}`, new RegExp(`segment ${forgiven} what was given back`)],
    [
      `update segment set voided = false where id = ${failed}`,
      new RegExp(`segment ${failed} it was not charged what its time costs`),
    ],
    [`delete from segment_refund where segment_id = ${lost}`, /journal \d+ the intervals/],
    [
      `update segment_refund set card = card - 1, onchain = onchain + 1 where segment_id = ${failed}`,
      /journal \d+ the intervals/,
    ],
    [
      `update segment_refund set forgiven = forgiven - 1, credit = credit + 1 where segment_id = ${forgiven}`,
      /journal \d+ the intervals/,
    ],
    [
      `update segment_refund set journal_id = (select min(id) from journal where kind = 'usage') where segment_id = ${failed}`,
      new RegExp(`segment_refund ${failed} its journal did not`),
    ],
    [
      `update segment_charge set journal_id = (select max(id) from journal where kind = 'usage' and client_id = ${poor})
        where segment_id = ${steady}`,
      new RegExp(`segment_charge ${steady} until`),
    ],
    [
      `delete from segment_charge where segment_id = ${steady}
        and until = (select until from segment_charge where segment_id = ${steady} order by until offset 1 limit 1)`,
      new RegExp(`segment_charge ${steady} until .* it does not go on`),
    ],
    [`update journal set kind = 'plan' where idem_key = 'refund:${lost}'`, /account revenue:usage \d+ were booked/],
    [`update journal set kind = 'plan' where idem_key = 'refund:${forgiven}'`, /account writeoff \d+ were written off/],
    [
      `update usage_day set refunded = refunded + 1 where client_id = ${rich}`,
      new RegExp(`usage_day workspace ${rich}`),
    ],
  ];
  for (const [statement, expected] of changes)
    await tampered(books.db, [statement], async (trx) => {
      expect.soft(said((await verifyLedger(trx)).findings), statement).toMatch(expected);
    });
  console.log(`changes of what was given back: n = ${changes.length}`);
  expect((await verifyLedger(books.db)).problems).toBe(0);
});

function ruleOf({ about, problem }: Finding): Rule {
  if (about === 'currency' || problem === 'it does not balance') return 'a';
  if (/postings add up/.test(problem)) return 'b';
  if (/is below/.test(problem)) return 'c';
  if (about === 'hold' || /open holds are/.test(problem)) return 'd';
  if (about.startsWith('segment') || /the intervals/.test(problem)) return 'e';
  if (about === 'journal' || about === 'ledger_seal') return 'f';
  return 'shown';
}
