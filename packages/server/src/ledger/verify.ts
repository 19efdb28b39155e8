import { FINDINGS_MOST, type Finding } from '@stagi/contract/ledger.ts';
import { sql } from 'kysely';
import type { Db } from '../db/schema.ts';
import { readPage } from './digest.ts';
import { NO_SEAL, sealsOf } from './seal.ts';
import { checkUse } from './verifyUse.ts';

export interface Verdict {
  journals: number;
  journalsToDo: number;
  /** How much of what was looked at. */
  counts: Record<string, number>;
  /** The first of them; all are counted. */
  findings: Finding[];
  problems: number;
}

/**
 * Holds the whole ledger against itself, as it was at one moment: every journal against its hash, its lines and the
 * seals; every balance against the sum of its postings; what is held against the holds; what workspaces are shown
 * against what they have. Reads only, in statements of a second or so; `tell` hears how far it is.
 */
export async function verifyLedger(
  db: Db,
  tell: (verdict: Verdict) => Promise<void> = async () => {},
): Promise<Verdict> {
  const verdict: Verdict = { journals: 0, journalsToDo: 0, counts: {}, findings: [], problems: 0 };
  const report: Report = {
    found(about, id, problem) {
      verdict.problems += 1;
      if (verdict.findings.length < FINDINGS_MOST) verdict.findings.push({ about, id, problem });
    },
    count(what, n) {
      verdict.counts[what] = (verdict.counts[what] ?? 0) + n;
    },
  };
  await atOneMoment(db, async (trx) => {
    const { rows } = await sql<{ n: number }>`select count(*)::int as n from journal`.execute(trx);
    verdict.journalsToDo = rows[0]!.n;
    const sums = await checkJournals(trx, report, async (journals) => {
      verdict.journals += journals;
      await tell(verdict);
    });
    await checkBalances(trx, report, sums);
    await checkHolds(trx, report);
    await checkUse(trx, report);
    await checkTransactions(trx, report);
  });
  return verdict;
}

/** In the transaction that `db` is, whatever that sees. */
function atOneMoment(db: Db, work: (trx: Db) => Promise<void>): Promise<void> {
  if (db.isTransaction) return work(db);
  return db.transaction().setIsolationLevel('repeatable read').setAccessMode('read only').execute(work);
}

export interface Report {
  found(about: string, id: string, problem: string): void;
  count(what: string, n: number): void;
}

type Sums = Map<string, bigint>;

/** Page by page, a page ending where a seal does. */
async function checkJournals(db: Db, report: Report, tell: (n: number) => Promise<void>): Promise<Sums> {
  const sums: Sums = new Map();
  const seals = await sealsOf(db);
  const { rows } = await sql<{ last: bigint }>`select greatest(
    (select coalesce(max(id), 0) from journal), (select coalesce(max(journal_id), 0) from posting)) as last`.execute(
    db,
  );
  const stretch = async (after: bigint, upto: bigint, before: Buffer) => {
    let [last, hash, journals] = [after, before, 0n];
    do {
      const page = await readPage(db, last, upto, hash);
      for (const { id, problem } of page.findings) report.found('journal', id, problem);
      for (const [account, amount] of Object.entries(page.sums))
        sums.set(account, (sums.get(account) ?? 0n) + BigInt(amount));
      report.count('journals', page.journals);
      report.count('postings', page.postings);
      [last, hash, journals] = [page.last, page.digest, journals + BigInt(page.journals)];
      await tell(page.journals);
    } while (last < upto);
    return { hash, journals };
  };

  let last = 0n;
  let prev: Buffer = NO_SEAL;
  for (const seal of seals) {
    report.count('seals', 1);
    if (!seal.prev.equals(prev)) report.found('ledger_seal', seal.day, 'it does not follow the one before it');
    const { hash, journals } = await stretch(last, seal.last, seal.prev);
    if (!hash.equals(seal.hash) || journals !== seal.journals)
      report.found('ledger_seal', seal.day, 'what was booked until then is not what was sealed');
    [last, prev] = [seal.last, seal.hash];
  }
  if (rows[0]!.last > last || seals.length === 0) await stretch(last, rows[0]!.last, prev);
  return sums;
}

const ROWS_AT_ONCE = 10_000;

async function checkBalances(db: Db, report: Report, sums: Sums): Promise<void> {
  const perCurrency = new Map<string, bigint>();
  let after = 0n;
  for (;;) {
    const accounts = await db
      .selectFrom('account')
      .select(['id', 'code', 'currency', 'balance', 'min_balance'])
      .where('id', '>', after)
      .orderBy('id')
      .limit(ROWS_AT_ONCE)
      .execute();
    for (const { id, code, currency, balance, min_balance: least } of accounts) {
      const sum = sums.get(String(id)) ?? 0n;
      if (balance !== sum) report.found('account', code, `its balance is ${balance}, its postings add up to ${sum}`);
      if (least !== null && balance < least)
        report.found('account', code, `its balance of ${balance} is below ${least}`);
      perCurrency.set(currency, (perCurrency.get(currency) ?? 0n) + balance);
    }
    report.count('accounts', accounts.length);
    const last = accounts.at(-1);
    if (!last || accounts.length < ROWS_AT_ONCE) break;
    after = last.id;
  }
  for (const [currency, sum] of perCurrency)
    if (sum !== 0n) report.found('currency', currency, `all balances together are ${sum}`);
}

/** What is held is what the open holds say, and an ended one was ended by its own journal. */
async function checkHolds(db: Db, report: Report): Promise<void> {
  const { rows } = await sql<{ code: string; balance: bigint; open: bigint }>`
    select a.code, a.balance, coalesce(h.open, 0)::bigint as open
    from account a full join (select workspace_id, sum(amount) as open from hold where state = 'open' group by 1) h
      on h.workspace_id = a.client_id
    where a.class = 'held' and a.balance <> coalesce(h.open, 0)`.execute(db);
  for (const { code, balance, open } of rows)
    report.found('account', code, `it holds ${balance}, open holds are ${open}`);
  const { rows: odd } = await sql<{ id: string; n: number }>`
    select h.id::text from hold h join journal j on j.id = h.journal_id left join journal e on e.id = h.ended_by
    where j.kind <> 'hold' or (h.state = 'released' and e.kind is distinct from 'release')
      or (h.state = 'captured' and e.kind is distinct from 'capture')`.execute(db);
  for (const { id } of odd) report.found('hold', id, 'its journals are not those of its state');
  const { rows: all } = await sql<{ n: number }>`select count(*)::int as n from hold`.execute(db);
  report.count('holds', all[0]!.n);
}

const WORKSPACES_AT_ONCE = 500;

/** What a workspace sees as its transactions adds up to what it can spend. */
async function checkTransactions(db: Db, report: Report): Promise<void> {
  let after = 0;
  for (;;) {
    const { rows } = await sql<{ id: number; balance: bigint; shown: bigint; counted: number; rows: number }>`
      with part as (select id from workspace where id > ${after} order by id limit ${WORKSPACES_AT_ONCE})
      select part.id,
        (select coalesce(sum(balance), 0)::bigint from account where client_id = part.id and class <> 'held') as balance,
        (select coalesce(sum(amount), 0)::bigint from billing_transaction where workspace_id = part.id)
          - (select coalesce(sum(charged), 0)::bigint from usage_day where client_id = part.id) as shown,
        (select coalesce(sum(n), 0)::int from billing_transaction_count where workspace_id = part.id) as counted,
        (select count(*)::int from billing_transaction where workspace_id = part.id) as rows
      from part order by 1`.execute(db);
    for (const { id, balance, shown, counted, rows: n } of rows) {
      if (shown !== balance)
        report.found('billing_transaction', `workspace ${id}`, `${shown} are shown, ${balance} are there`);
      if (counted !== n)
        report.found('billing_transaction_count', `workspace ${id}`, `${n} are there, ${counted} counted`);
      report.count('transactions', n);
    }
    report.count('workspaces', rows.length);
    const last = rows.at(-1);
    if (!last || rows.length < WORKSPACES_AT_ONCE) return;
    after = last.id;
  }
}
