import { FINDINGS_MAX, type Finding } from '@stagi/contract/ledger.ts';
import { sql } from 'kysely';
import { accountOf } from '../billing/accounts.ts';
import type { Db } from '../db/schema.ts';
import { readPage } from './digest.ts';
import type { Report } from './report.ts';
import { NO_SEAL, sealsOf } from './seal.ts';
import { type BookedUse, checkUsage } from './verifyUsage.ts';

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
      if (verdict.findings.length < FINDINGS_MAX) verdict.findings.push({ about, id, problem });
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
    await checkBalances(trx, report, sums.byAccount);
    await checkHolds(trx, report);
    await checkUsage(trx, report, sums.use);
    await checkTransactions(trx, report);
  });
  return verdict;
}

/** In the transaction that `db` is, whatever that sees. */
function atOneMoment(db: Db, work: (trx: Db) => Promise<void>): Promise<void> {
  if (db.isTransaction) return work(db);
  return db.transaction().setIsolationLevel('repeatable read').setAccessMode('read only').execute(work);
}

interface Sums {
  byAccount: Map<string, bigint>;
  use: BookedUse;
}

/** Page by page, a page ending where a seal does. */
async function checkJournals(db: Db, report: Report, tell: (n: number) => Promise<void>): Promise<Sums> {
  const byAccount = new Map<string, bigint>();
  const use: BookedUse = { booked: 0n, unpaid: 0n };
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
        byAccount.set(account, (byAccount.get(account) ?? 0n) + BigInt(amount));
      use.booked += BigInt(page.use.booked);
      use.unpaid += BigInt(page.use.unpaid);
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
  return { byAccount, use };
}

const ROWS_AT_ONCE = 10_000;

async function checkBalances(db: Db, report: Report, sums: Map<string, bigint>): Promise<void> {
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

/** What is held is what the open holds say, each as much as its own journal set aside; an ended one was ended by its own. */
async function checkHolds(db: Db, report: Report): Promise<void> {
  const { rows } = await sql<{ workspace: number; balance: bigint; open: bigint }>`
    select coalesce(a.client_id, h.workspace_id) as workspace, coalesce(a.balance, 0)::bigint as balance,
      coalesce(h.open, 0)::bigint as open
    from (select client_id, balance from account where class = 'held') a
      full join (select workspace_id, sum(amount) as open from hold where state = 'open' group by 1) h
        on h.workspace_id = a.client_id
    where coalesce(a.balance, 0) <> coalesce(h.open, 0)`.execute(db);
  for (const { workspace, balance, open } of rows)
    report.found('account', accountOf(workspace, 'held'), `it holds ${balance}, open holds are ${open}`);
  let after = 0n;
  for (;;) {
    const { rows: page } = await sql<{ id: bigint; problem: string | null }>`
      select h.id, case
        when j.kind <> 'hold' or e.kind is distinct from
          (case h.state when 'released' then 'release' when 'captured' then 'capture' end)
          then 'its journals are not those of its state'
        when h.amount is distinct from set_aside.amount or (e.id is not null and h.amount is distinct from given.amount)
          or j.client_id <> h.workspace_id then 'it is not what its journals moved'
        end as problem
      from (select * from hold where id > ${after} order by id limit ${ROWS_AT_ONCE}) h
        join journal j on j.id = h.journal_id left join journal e on e.id = h.ended_by
        left join lateral (select sum(p.amount) as amount from posting p join account a on a.id = p.account_id
          where p.journal_id = j.id and a.class = 'held') set_aside on true
        left join lateral (select -sum(p.amount) as amount from posting p join account a on a.id = p.account_id
          where p.journal_id = e.id and a.class = 'held') given on true
      order by h.id`.execute(db);
    for (const { id, problem } of page) if (problem) report.found('hold', String(id), problem);
    report.count('holds', page.length);
    const last = page.at(-1);
    if (!last || page.length < ROWS_AT_ONCE) return;
    after = last.id;
  }
}

const WORKSPACES_AT_ONCE = 500;

/** What a workspace sees as its transactions adds up to what it can spend, and its days of use to its intervals. */
async function checkTransactions(db: Db, report: Report): Promise<void> {
  const sums = sql`concat_ws(', ', coalesce(sum(charged), 0), coalesce(sum(uncollected), 0), coalesce(sum(refunded), 0),
    coalesce(sum(forgiven), 0))`;
  let after = 0;
  for (;;) {
    const { rows } = await sql<Shown>`
      with part as (select id from workspace where id > ${after} order by id limit ${WORKSPACES_AT_ONCE})
      select part.id,
        (select coalesce(sum(balance), 0)::bigint from account where client_id = part.id and class <> 'held') as balance,
        (select coalesce(sum(amount), 0)::bigint from billing_transaction where workspace_id = part.id)
          - (select coalesce(sum(charged), 0)::bigint from usage_day where client_id = part.id) as shown,
        counts.miscounted, counts.rows,
        (select ${sums} from usage_day where client_id = part.id) as days,
        (select ${sums} from segment where client_id = part.id) as intervals
      from part, lateral (
        select coalesce(sum(t.n), 0)::int as rows, count(*) filter (where t.n is distinct from c.n)::int as miscounted
        from (select type, (at at time zone 'UTC')::date as day, count(*) as n from billing_transaction
            where workspace_id = part.id group by 1, 2) t
          full join (select type, day, n from billing_transaction_count where workspace_id = part.id) c using (type, day)
      ) counts order by 1`.execute(db);
    for (const { id, balance, shown, miscounted, rows: n, days, intervals } of rows) {
      const workspace = `workspace ${id}`;
      if (shown !== balance) report.found('billing_transaction', workspace, `${shown} are shown, ${balance} are there`);
      if (miscounted > 0)
        report.found(
          'billing_transaction_count',
          workspace,
          `${n} are there, ${miscounted} days of a type say otherwise`,
        );
      if (days !== intervals)
        report.found(
          'usage_day',
          workspace,
          `its days say ${days}, its intervals ${intervals} (charged, uncollected, refunded, forgiven)`,
        );
      report.count('transactions', n);
    }
    report.count('workspaces', rows.length);
    const last = rows.at(-1);
    if (!last || rows.length < WORKSPACES_AT_ONCE) return;
    after = last.id;
  }
}

interface Shown {
  id: number;
  balance: bigint;
  shown: bigint;
  miscounted: number;
  rows: number;
  days: string;
  intervals: string;
}
