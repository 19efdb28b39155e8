import { setTimeout as wait } from 'node:timers/promises';
import type { Context } from '../context.ts';
import type { Provider, ProviderOffer, Readiness } from '../providers/provider.ts';

/** A cloud's state and offers at one moment. Without offers unless it is ready. */
export interface CloudSnapshot {
  provider: Provider;
  readiness: Readiness;
  offers: readonly ProviderOffer[];
  seenAt: Date;
}

const CACHE_TTL_MS = 5_000;
/** The slowest cloud delays the list no longer than this. */
const TIMEOUT_MS = 5_000;

const cache = new WeakMap<Provider, { snapshot: Promise<CloudSnapshot>; at: number }>();

/** All clouds in parallel. One that fails shows as unavailable and does not fail the others. */
export function allCloudSnapshots(ctx: Pick<Context, 'providers' | 'log'>): Promise<CloudSnapshot[]> {
  return Promise.all([...ctx.providers.values()].map((provider) => cloudSnapshot(ctx, provider)));
}

/** Cached for five seconds. */
export function cloudSnapshot(ctx: Pick<Context, 'log'>, provider: Provider): Promise<CloudSnapshot> {
  const before = cache.get(provider);
  if (before && Date.now() - before.at < CACHE_TTL_MS) return before.snapshot;
  const snapshot = fetchWithTimeout(ctx, provider);
  cache.set(provider, { snapshot, at: Date.now() });
  return snapshot;
}

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
