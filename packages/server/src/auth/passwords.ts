import { AsyncLocalStorage } from 'node:async_hooks';
import { availableParallelism } from 'node:os';
import { hash, hashRaw, verify } from '@node-rs/argon2';
import { tooMany } from '../http/errors.ts';
import { takeTurns } from '../turns.ts';

/** The library's default algorithm is argon2id; 64 MiB, 3 passes (OWASP's floor is 19 MiB and 2). */
const OPTIONS = { memoryCost: 65_536, timeCost: 3, parallelism: 1 };
/** One thread of libuv's pool is left to everybody else: access tokens are verified there too. */
const POOL_THREADS = Number(process.env.UV_THREADPOOL_SIZE) || 4;
const RUNNING_MAX = Math.max(1, Math.min(availableParallelism(), POOL_THREADS - 1));
const WAITING_MAX = 32;
/** Places for those who come from a browser they have signed in from: no flood of strangers takes them. */
const KEPT_FOR_OWNERS = 8;
const RETRY_SECONDS = 5;

/** Verified for an unknown address, so that it takes as long as a known one. */
let dummyHash: Promise<string> | null = null;

export function hashSecret(secret: string): Promise<string> {
  return queued(() => hash(secret, OPTIONS));
}

/** With a salt that is known, so that one hash is compared with several stored ones. */
export function hashWithSalt(secret: string, salt: Buffer): Promise<Buffer> {
  return queued(() => hashRaw(secret, { ...OPTIONS, salt }));
}

/** Whether `secret` is the one that was hashed; takes as long when there is no hash. */
export async function verifySecret(stored: string | null, secret: string): Promise<boolean> {
  dummyHash ??= hash('nobody has this password', OPTIONS);
  const dummy = await dummyHash;
  const against = stored ?? dummy;
  const matches = await queued(() => verify(against, secret));
  return matches && stored !== null;
}

/** Whether a hash was made with other parameters than are used now: it is made anew when its password is at hand. */
export function isDated(stored: string): boolean {
  const { memoryCost, timeCost, parallelism } = OPTIONS;
  return !stored.startsWith(`$argon2id$v=19$m=${memoryCost},t=${timeCost},p=${parallelism}$`);
}

let admitted = 0;

/**
 * Lets in as many calls that will hash as can be served in a few seconds, and refuses the rest with 429 before they
 * have asked the database anything.
 */
export async function amongHashers<T>(work: () => Promise<T>): Promise<T> {
  if (isFull()) throw tooMany(RETRY_SECONDS);
  return admit(work);
}

/** Marks the work of somebody who came in by a kept place: it waits behind no stranger. */
const comesFirst = new AsyncLocalStorage<true>();

/** The same, but owners still find a place when everybody else is refused. */
export async function amongHashersOrOwners<T>(isOwners: () => Promise<boolean>, work: () => Promise<T>): Promise<T> {
  if (!isFull()) return admit(work);
  const mayEnter = !isFull(KEPT_FOR_OWNERS) && (await isOwners()) && !isFull(KEPT_FOR_OWNERS);
  if (!mayEnter) throw tooMany(RETRY_SECONDS);
  return comesFirst.run(true, () => admit(work));
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
const queued = takeTurns(RUNNING_MAX, {
  most: WAITING_MAX + KEPT_FOR_OWNERS,
  refuse: () => tooMany(RETRY_SECONDS),
  goesFirst: () => comesFirst.getStore() === true,
});
