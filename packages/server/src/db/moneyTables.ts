import type { Finding } from '@stagi/contract/ledger.ts';
import type { Micro } from '@stagi/contract/money.ts';
import type { TransactionType } from '@stagi/contract/transactions.ts';
import type { ColumnType, Generated, GeneratedAlways } from 'kysely';
import type { Created, JsonWithDefault } from './columns.ts';
import type { AccountClass, JournalKind } from './journalKinds.ts';

/** Read as money; the ledger's own functions ask for `Micro`, so nothing else is written. */
type Money = ColumnType<Micro, bigint, never>;

export interface AccountTable {
  id: GeneratedAlways<bigint>;
  code: string;
  class: GeneratedAlways<AccountClass>;
  client_id: number | null;
  currency: string;
  /** Changes by postings alone. */
  balance: ColumnType<Micro, never, never>;
  min_balance: bigint | null;
}

export interface JournalTable {
  id: GeneratedAlways<bigint>;
  kind: JournalKind | 'reversal';
  idem_key: string;
  lines_hash: Buffer;
  line_count: number;
  hash: ColumnType<Buffer, never, never>;
  client_id: number | null;
  reverses_id: bigint | null;
  meta: JsonWithDefault<Record<string, unknown>>;
  created_at: Created;
}

export interface PostingTable {
  journal_id: bigint;
  line: number;
  account_id: bigint;
  amount: Money;
}

export interface HoldTable {
  id: GeneratedAlways<bigint>;
  workspace_id: number;
  amount: Money;
  journal_id: bigint;
  state: Generated<'open' | 'released' | 'captured'>;
  ended_by: bigint | null;
  created_at: Created;
}

export interface LedgerSealTable {
  /** `2026-11-22`; a day of UTC. */
  day: string;
  last_journal_id: bigint;
  journals: bigint;
  prev_hash: Buffer;
  hash: Buffer;
  sealed_at: Created;
}

export interface LedgerRunTable {
  id: GeneratedAlways<bigint>;
  asked_by: number | null;
  cause: 'cron' | 'command' | 'operator';
  state: Generated<'waiting' | 'running' | 'sound' | 'unsound' | 'failed'>;
  journals: ColumnType<bigint, bigint | undefined, bigint>;
  journals_to_do: Generated<bigint>;
  counts: JsonWithDefault<Record<string, number>>;
  findings: JsonWithDefault<Finding[]>;
  error: string | null;
  created_at: Created;
  touched_at: ColumnType<Date, undefined, Date>;
  ended_at: Date | null;
}

/** Written by the database itself, beside the postings that it shows. */
export interface BillingTransactionTable {
  id: GeneratedAlways<bigint>;
  workspace_id: number;
  type: TransactionType;
  kind: JournalKind | 'reversal';
  at: Date;
  currency: string;
  amount: Money;
  journal_id: bigint | null;
  /** Of usage: which server or storage. */
  resource_kind: 'instance' | 'storage' | null;
  resource_id: number | null;
  day: string | null;
  from_address: string | null;
  to_address: string | null;
  network: string | null;
}

export interface BillingTransactionCountTable {
  workspace_id: number;
  type: TransactionType;
  day: string;
  n: number;
}

export interface PromoCodeTable {
  id: GeneratedAlways<number>;
  code: string;
  amount: Money;
  uses_max: number;
  uses: Generated<number>;
  expires_at: Date;
  note: Generated<string>;
  created_by: number | null;
  created_at: Created;
  revoked_at: Date | null;
}

export interface PromoActivationTable {
  promo_code_id: number;
  activated_by: number;
  person_mark: Buffer;
  workspace_id: number;
  journal_id: bigint;
  created_at: Created;
}
