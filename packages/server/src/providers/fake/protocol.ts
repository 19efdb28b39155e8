/** The protocol of the fake cloud: JSON over HTTP, times in ISO 8601 by the cloud's own clock. */

export interface FakeOffer {
  id: string;
  region: string;
  cpu: { name: string; cores: number };
  ramGb: number;
  gpu: { name: string; count: number; memoryGb: number } | null;
  disk: { type: string; sizeGb: number };
  /** Micro-STAGI as decimal strings: JSON has no integers of that size. */
  pricePerHour: string;
  stoppedPricePerHour: string;
  spot: boolean;
  available: number;
}

export interface FakeMachine {
  ref: string;
  name: string;
  tags: Record<string, string>;
  state: 'creating' | 'running' | 'stopping' | 'stopped' | 'terminating' | 'error';
  ip: string | null;
  detail: string | null;
  createdAt: string;
}

export interface FakeStart {
  token: string;
  name: string;
  offerId: string;
  tags: Record<string, string>;
  userData: string;
}

/** `id` is set when the machine was created although the request failed. */
export interface FakeErrorReply {
  error: { code: 'rate-limited' | 'internal' | 'no-capacity' | 'not-found' | 'conflict' | 'invalid'; message: string };
  id?: string;
}

export const FAKE_OPERATIONS = ['offers', 'start', 'look', 'list', 'stop', 'resume', 'reboot', 'terminate'] as const;
export type FakeOperation = (typeof FAKE_OPERATIONS)[number];

/** A fault of a call. */
export type FakeFault =
  /** Refused with 429, naming the seconds to wait when given; nothing happened. */
  | { kind: 'rateLimited'; retryAfterS?: number }
  /** Refused with 500; nothing happened. */
  | { kind: 'internal' }
  /** There is no reply; nothing happened. */
  | { kind: 'hang' }
  /** It happened; there is no reply, or the connection is reset. */
  | { kind: 'effectThenTimeout' | 'effectThenReset' }
  /** It happened; the reply is an error that carries the machine's id (`start` only). */
  | { kind: 'effectThenErrorWithId' }
  /** The reply comes this many real milliseconds late. */
  | { kind: 'slow'; delayMs: number }
  /** `start`: sold out since the offers were read. */
  | { kind: 'noCapacity' }
  /** It happened, but `list` and `look` show the machine as before, a new one not at all, for this much longer. */
  | { kind: 'visibilityLag'; lagMs: number }
  /** `start`: accepted, ends in `error`, or never gets ready. */
  | { kind: 'provisioningFails'; detail: string }
  | { kind: 'neverReady' }
  /** `list`, `look`: as things were when the fault was set. */
  | { kind: 'stale' }
  /** `list`: these names are missing, or all are. */
  | { kind: 'partial'; omit: string[] | 'all' }
  /** `terminate`: answers that it is done, does nothing, and hides the machine this long. */
  | { kind: 'falseDeleted'; hiddenMs: number };

export const FAKE_FAULT_KINDS = Object.keys({
  rateLimited: true,
  internal: true,
  hang: true,
  effectThenTimeout: true,
  effectThenReset: true,
  effectThenErrorWithId: true,
  slow: true,
  noCapacity: true,
  visibilityLag: true,
  provisioningFails: true,
  neverReady: true,
  stale: true,
  partial: true,
  falseDeleted: true,
} satisfies Record<FakeFault['kind'], true>);

export interface FakeFaultRule {
  on: FakeOperation;
  fault: FakeFault;
  /** How many calls it applies to; `null` until cleared. */
  times: number | null;
}

/** A call that changed something, or tried to. */
export interface FakeEvent {
  at: string;
  operation: FakeOperation | 'vanish' | 'fail' | 'stray';
  name: string;
  ref: string | null;
  outcome: string;
}

/** A machine that was not requested by the platform. */
export interface FakeStray {
  name: string;
  offerId: string;
  tags: Record<string, string>;
}

/** A machine with its internal data. */
export interface FakeRecord {
  ref: string;
  token: string | null;
  name: string;
  offerId: string;
  tags: Record<string, string>;
  userData: string;
  ip: string;
  createdAt: string;
  /** When it was first running; `null` before. */
  ranAt: string | null;
  /** When it was removed; `null` before. */
  goneAt: string | null;
  state: FakeMachine['state'] | 'gone';
}

export interface FakeReport {
  now: string;
  machines: FakeRecord[];
  faults: FakeFaultRule[];
  events: FakeEvent[];
}
