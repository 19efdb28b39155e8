import { availableParallelism } from 'node:os';
import { hash, verify } from '@node-rs/argon2';
import { tooMany } from '../http/errors.ts';
import { takeTurns } from '../turns.ts';

/** The library's default algorithm is argon2id; 64 MiB, 3 passes (OWASP's floor is 19 MiB and 2). */
const OPTIONS = { memoryCost: 65_536, timeCost: 3, parallelism: 1 };
/** One thread of libuv's pool is left to everybody else: access tokens are verified there too. */
const POOL_THREADS = Number(process.env.UV_THREADPOOL_SIZE) || 4;
const RUNNING_MAX = Math.max(1, Math.min(availableParallelism(), POOL_THREADS - 1));
const WAITING_MAX = 32;
const RETRY_SECONDS = 5;

/** Verified for an unknown address, so that it takes as long as a known one. */
let dummyHash: Promise<string> | null = null;

export function hashSecret(secret: string): Promise<string> {
  return queued(() => hash(secret, OPTIONS));
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
  if (admitted >= RUNNING_MAX + WAITING_MAX) throw tooMany(RETRY_SECONDS);
  admitted += 1;
  try {
    return await work();
  } finally {
    admitted -= 1;
  }
}

/** One hash takes 64 MiB: as many at once as there are cores, a bounded queue behind them, then 429. */
const queued = takeTurns(RUNNING_MAX, { most: WAITING_MAX, refuse: () => tooMany(RETRY_SECONDS) });
