import { AsyncLocalStorage } from 'node:async_hooks';
import { availableParallelism } from 'node:os';
import { hash, hashRaw, verify } from '@node-rs/argon2';
import { tooManyRequests } from '../http/errors.ts';
import { limitConcurrency } from '../loops/concurrency.ts';

/** The library's default algorithm is argon2id; 64 MiB, 3 passes (OWASP's floor is 19 MiB and 2). */
const OPTIONS = { memoryCost: 65_536, timeCost: 3, parallelism: 1 };
/** One thread of libuv's pool stays free for other work: access tokens are verified there too. */
const POOL_THREADS = Number(process.env.UV_THREADPOOL_SIZE) || 4;
const RUNNING_MAX = Math.max(1, Math.min(availableParallelism(), POOL_THREADS - 1));
const WAITING_MAX = 32;
/** Slots reserved for users in a known browser: a flood of strangers cannot take them. */
const RESERVED_FOR_OWNERS = 8;
const RETRY_SECONDS = 5;

/** Compared with for an unknown address, so that the reply takes as long as for a known one. */
let dummyHash: Promise<string> | null = null;

export function hashSecret(secret: string): Promise<string> {
  return queued(() => hash(secret, OPTIONS));
}

/** With a given salt, so that one hash can be compared with several stored ones. */
export function hashWithSalt(secret: string, salt: Buffer): Promise<Buffer> {
  return queued(() => hashRaw(secret, { ...OPTIONS, salt }));
}

/** Whether `secret` matches the stored hash; takes as long when there is none. */
export async function verifySecret(stored: string | null, secret: string): Promise<boolean> {
  dummyHash ??= hash('nobody has this password', OPTIONS);
  const dummy = await dummyHash;
  const against = stored ?? dummy;
  const matches = await queued(() => verify(against, secret));
  return matches && stored !== null;
}

/** Whether a hash was made with older parameters than today's: it is replaced at the next sign-in. */
export function needsRehash(stored: string): boolean {
  const { memoryCost, timeCost, parallelism } = OPTIONS;
  return !stored.startsWith(`$argon2id$v=19$m=${memoryCost},t=${timeCost},p=${parallelism}$`);
}

let admitted = 0;

/**
 * Runs a call that will hash if it can be served in a few seconds; refuses it with 429 otherwise, before it has asked
 * the database anything.
 */
export async function withHashingSlot<T>(work: () => Promise<T>): Promise<T> {
  if (isFull()) throw tooManyRequests(RETRY_SECONDS);
  return admit(work);
}

/** Set while work with a reserved slot runs: it goes to the front of the queue. */
const priorityWork = new AsyncLocalStorage<true>();

/** The same, but when it is full, users in a known browser may still take a reserved slot. */
export async function withReservedHashingSlot<T>(isOwners: () => Promise<boolean>, work: () => Promise<T>): Promise<T> {
  if (!isFull()) return admit(work);
  const mayEnter = !isFull(RESERVED_FOR_OWNERS) && (await isOwners()) && !isFull(RESERVED_FOR_OWNERS);
  if (!mayEnter) throw tooManyRequests(RETRY_SECONDS);
  return priorityWork.run(true, () => admit(work));
}

async function admit<T>(work: () => Promise<T>): Promise<T> {
  admitted += 1;
  try {
    return await work();
  } finally {
    admitted -= 1;
  }
}

const isFull = (kept = 0): boolean => admitted >= RUNNING_MAX + WAITING_MAX + kept;

/** One hash takes 64 MiB: as many at once as there are cores, a bounded queue behind them, then 429. */
const queued = limitConcurrency(RUNNING_MAX, {
  most: WAITING_MAX + RESERVED_FOR_OWNERS,
  refuse: () => tooManyRequests(RETRY_SECONDS),
  hasPriority: () => priorityWork.getStore() === true,
});
