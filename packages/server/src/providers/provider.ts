/**
 * What the platform asks of a cloud. Every method returns at once: slow work is
 * observed later with `look`. Repeating a call with the same arguments is harmless.
 * All methods abort after 30 s and throw only `ProviderError`.
 */
export interface Provider {
  readonly name: string;
  readonly title: string;
  readonly traits: ProviderTraits;
  /** Its machines exist nowhere: nobody pays for them. */
  readonly simulated?: boolean;
  /** Whether machines can be had now, and if not why, or how far the preparation is. Never throws. */
  readiness(): Promise<Readiness>;
  offers(): Promise<ProviderOffer[]>;
  /**
   * Makes one machine under `request.name`, unique in our environment. When this token has made it
   * already, answers its ref instead of making a second one; a name that another token holds is refused.
   */
  start(request: StartRequest): Promise<{ ref: string }>;
  /** What the provider shows of one machine; `null` when it lists none of that name. */
  look(name: string): Promise<Machine | null>;
  /** Everything that carries our environment's tag. */
  list(): Promise<Machine[]>;
  stop?(ref: string): Promise<void>;
  resume?(ref: string): Promise<void>;
  reboot?(ref: string): Promise<void>;
  /** Succeeds when the machine is gone already. */
  terminate(ref: string): Promise<void>;
}

export interface ProviderTraits {
  canStop: boolean;
  billedWhenStopped: boolean;
  /** Where the machine's readiness is learnt from: our daemon, or the provider's word. */
  readiness: 'daemon' | 'provider';
  hostUsername: string;
  /** Milliseconds after which a start, reboot, stop or resume counts as failed. */
  deadlineMs: number;
  /** How fast it may be asked; absent: as fast as one likes. */
  limit?: RateLimit;
}

export interface RateLimit {
  perSecond: number;
  /** Calls at once after a rest. */
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
  /** Machines of this kind that could be had now; `null` when the provider does not say. */
  available: number | null;
}

export interface StartRequest {
  /** The client token: the id of the stored intent. */
  token: string;
  /** `stagi-<environment>-<instance id>`. */
  name: string;
  offerId: string;
  /** `{ env, resource, op }`: readable back through `list`. */
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
 * The one error an adapter throws. `retryable`: nothing happened, try again. `permanent`: it will not
 * work, tell the user. `unknown`: it may have happened, look before repeating. `noCapacity`: sold out.
 */
export class ProviderError extends Error {
  readonly kind: 'retryable' | 'permanent' | 'unknown' | 'noCapacity';
  /** How long the cloud wants to be left alone. */
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
