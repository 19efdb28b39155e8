import type { Generated, GeneratedAlways } from 'kysely';

/** An interval of one price: `price` micro-STAGI for `price_hours` hours. */
export interface SegmentTable {
  id: GeneratedAlways<bigint>;
  client_id: number;
  kind: 'instance' | 'storage';
  /** Of that kind; no foreign key, as it is one of two tables. */
  resource_id: number;
  rate: 'running' | 'stopped' | 'size';
  price: bigint;
  price_hours: Generated<number>;
  reserve: Generated<bigint>;
  started_at: Date;
  ended_at: Date | null;
  metered_until: Date;
  charged: Generated<bigint>;
  uncollected: Generated<bigint>;
  refunded: Generated<bigint>;
  forgiven: Generated<bigint>;
  confirmed: boolean;
  voided: Generated<boolean>;
  settled: Generated<boolean>;
}

export interface SegmentChargeTable {
  segment_id: bigint;
  until: Date;
  journal_id: bigint;
  credit: bigint;
  card: bigint;
  onchain: bigint;
  uncollected: bigint;
  charged_total: bigint;
  uncollected_total: bigint;
}

export interface SegmentRefundTable {
  segment_id: bigint;
  at: Date;
  journal_id: bigint;
  credit: bigint;
  card: bigint;
  onchain: bigint;
  forgiven: bigint;
}

export interface UsageDayTable {
  client_id: number;
  day: Date;
  kind: 'instance' | 'storage';
  resource_id: number;
  charged: Generated<bigint>;
  uncollected: Generated<bigint>;
  refunded: Generated<bigint>;
  forgiven: Generated<bigint>;
  last_at: Date;
}

export interface WorkspaceMeterTable {
  client_id: number;
  journals: Generated<bigint>;
  metered_at: Date;
  notices: Generated<number>;
  resumes_all: Generated<boolean>;
}
