/**
 * The adapter of a cloud. Every method returns at once: slow work is observed later with
 * `getMachine`. All methods are idempotent, time out after 30 s and throw only `ProviderError`.
 */
export interface Provider {
  readonly name: string;
  readonly title: string;
  readonly traits: ProviderTraits;
  /** Without real machines, which nobody pays for. */
  readonly simulated?: boolean;
  /** Whether machines can be rented now, and if not why, or the progress of the preparation. Never throws. */
  readiness(): Promise<Readiness>;
  offers(): Promise<ProviderOffer[]>;
  /**
   * Creates a machine named `request.name`, unique in our environment. When this token has created it
   * already, returns its ref instead of creating a second one; a name that another token used is refused.
   */
  start(request: StartRequest): Promise<{ ref: string }>;
  /** A machine as the provider lists it; `null` when there is none of that name. */
  getMachine(name: string): Promise<Machine | null>;
  /** All machines with the tag of our environment. */
  list(): Promise<Machine[]>;
  stop?(ref: string): Promise<void>;
  resume?(ref: string): Promise<void>;
  reboot?(ref: string): Promise<void>;
  /** Succeeds when the machine does not exist any more. */
  terminate(ref: string): Promise<void>;
}

export interface ProviderTraits {
  canStop: boolean;
  billedWhenStopped: boolean;
  /** Who reports that a machine is ready: the daemon on it, or the provider. */
  readiness: 'daemon' | 'provider';
  hostUsername: string;
  /** Milliseconds after which a start, reboot, stop or resume counts as failed. */
  deadlineMs: number;
  /** The rate limit of its API; absent: none. */
  limit?: RateLimit;
}

export interface RateLimit {
  perSecond: number;
  /** Calls at once after a pause. */
  burst: number;
}

export type Readiness =
  | { state: 'ready' }
  | { state: 'preparing'; step: string /** 0 … 1 */; progress: number; since: Date }
  | { state: 'unavailable'; reason: string };

export interface ProviderOffer {
  /** Stable within the provider. */
  id: string;
  region: string;
  cpu: { name: string; cores: number };
  ramGb: number;
  gpu: { name: string; count: number; memoryGb: number } | null;
  disk: { type: string; sizeGb: number };
  /** Micro-STAGI an hour, before the platform's markup. */
  pricePerHour: bigint;
  stoppedPricePerHour: bigint;
  spot: boolean;
  /** Machines of this kind that are available now; `null` when the provider does not say. */
  available: number | null;
}

export interface StartRequest {
  /** The client token: the id of the stored intent. */
  token: string;
  /** `stagi-<environment>-<instance id>`. */
  name: string;
  offerId: string;
  /** `{ env, resource, op, installation }`: readable back through `list`. The longest value is a UUID. */
  tags: Record<string, string>;
  /** A shell script that root runs once at the first boot. */
  userData: string;
}

export interface Machine {
  ref: string;
  name: string;
  tags: Record<string, string>;
  state: 'creating' | 'running' | 'stopping' | 'stopped' | 'terminating' | 'error';
  ip: string | null;
  /** Why it is in state `error`. */
  detail: string | null;
  createdAt: Date;
}

/**
 * The only error of adapters. `retryable`: nothing happened. `permanent`: a retry is useless, tell the
 * user. `unknown`: it may have happened, check before a retry. `noCapacity`: sold out.
 */
export class ProviderError extends Error {
  readonly kind: 'retryable' | 'permanent' | 'unknown' | 'noCapacity';
  /** The cloud's Retry-After. */
  readonly retryAfterMs: number | undefined;
  constructor(
    kind: ProviderError['kind'],
    message: string,
    { retryAfterMs, ...options }: { cause?: unknown; retryAfterMs?: number } = {},
  ) {
    super(message, options);
    this.retryAfterMs = retryAfterMs;
    this.name = 'ProviderError';
    this.kind = kind;
  }
}
