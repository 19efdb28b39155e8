import { setTimeout as wait } from 'node:timers/promises';
import { text } from '@stagi/contract/text.ts';
import type { Context } from '../context.ts';
import { PublicError } from '../http/errors.ts';
import type { Provider, ProviderOffer, Readiness } from '../providers/provider.ts';

/** A cloud's state and offers at one moment. Without offers unless it is ready. */
export interface CloudSnapshot {
  provider: Provider;
  readiness: Readiness;
  offers: readonly ProviderOffer[];
  seenAt: Date;
}

const CACHE_TTL_MS = 5_000;
/** Just after a start a cloud is often ready within a second. */
const NOT_READY_TTL_MS = 500;
/** The slowest cloud delays the list no longer than this. */
const TIMEOUT_MS = 5_000;

const cache = new WeakMap<Provider, { snapshot: Promise<CloudSnapshot>; at: number; isReady: boolean }>();

/** All clouds in parallel. One that fails shows as unavailable and does not fail the others. */
export function allCloudSnapshots(ctx: Pick<Context, 'providers' | 'log'>): Promise<CloudSnapshot[]> {
  return Promise.all([...ctx.providers.values()].map((provider) => cloudSnapshot(ctx, provider)));
}

/** Cached for five seconds, for half a second while the cloud is not ready. */
export function cloudSnapshot(ctx: Pick<Context, 'log'>, provider: Provider): Promise<CloudSnapshot> {
  const before = cache.get(provider);
  if (before && Date.now() - before.at < (before.isReady ? CACHE_TTL_MS : NOT_READY_TTL_MS)) return before.snapshot;
  const entry = { snapshot: fetchWithTimeout(ctx, provider), at: Date.now(), isReady: true };
  cache.set(provider, entry);
  return entry.snapshot.then((snapshot) => {
    entry.isReady = snapshot.readiness.state === 'ready';
    return snapshot;
  });
}

const READY_WITHIN_MS = 3_000;
const LOOK_AGAIN_MS = 200;

/**
 * Waits up to three seconds for a cloud that is being prepared, as after each start of the platform. Throws 503 when it
 * is not ready then, or does not answer: its offers are not known, so none of them can be called gone.
 */
export async function readyCloudSnapshot(ctx: Pick<Context, 'log'>, provider: Provider): Promise<CloudSnapshot> {
  const end = performance.now() + READY_WITHIN_MS;
  for (;;) {
    const snapshot = await cloudSnapshot(ctx, provider);
    if (snapshot.readiness.state === 'ready') return snapshot;
    if (snapshot.readiness.state === 'unavailable' || performance.now() > end) throw offersUnknown();
    await wait(LOOK_AGAIN_MS);
  }
}

const offersUnknown = (): PublicError =>
  new PublicError(503, text('The offers of this provider are not known at the moment. Try again in a moment.'), {
    retryAfter: 2,
  });

async function fetchWithTimeout({ log }: Pick<Context, 'log'>, provider: Provider): Promise<CloudSnapshot> {
  const stopTimer = new AbortController();
  const timeout = wait(TIMEOUT_MS, null, { signal: stopTimer.signal, ref: false }).then(() =>
    unavailable(provider, `${provider.title} does not answer now`),
  );
  const asked = fetchSnapshot(provider).catch((error: unknown) => {
    log.warn({ err: error, provider: provider.name }, 'a cloud did not tell its offers');
    return unavailable(provider, `${provider.title} did not answer as it should`);
  });
  try {
    return await Promise.race([asked, timeout]);
  } finally {
    stopTimer.abort();
    timeout.catch(ignoreAbort);
  }
}

async function fetchSnapshot(provider: Provider): Promise<CloudSnapshot> {
  const readiness = await provider.readiness();
  const offers = readiness.state === 'ready' ? await provider.offers() : [];
  return { provider, readiness, offers, seenAt: new Date() };
}

function unavailable(provider: Provider, reason: string): CloudSnapshot {
  return { provider, readiness: { state: 'unavailable', reason }, offers: [], seenAt: new Date() };
}

function ignoreAbort(error: unknown): void {
  if (!(error instanceof Error && error.name === 'AbortError')) throw error;
}
