import { setTimeout as wait } from 'node:timers/promises';
import type { Context } from '../context.ts';
import type { Provider, ProviderOffer, Readiness } from '../providers/provider.ts';

/** What one cloud had to offer at a moment. Offers are empty unless it is ready. */
export interface Snapshot {
  provider: Provider;
  readiness: Readiness;
  offers: readonly ProviderOffer[];
  seenAt: Date;
}

const FRESH_MS = 5_000;
/** A list of many clouds does not wait longer for the slowest. */
const PATIENCE_MS = 5_000;

const kept = new WeakMap<Provider, { snapshot: Promise<Snapshot>; at: number }>();

/** All clouds side by side. One that fails shows as unavailable and does not fail the rest. */
export function snapshots(ctx: Pick<Context, 'providers' | 'log'>): Promise<Snapshot[]> {
  return Promise.all([...ctx.providers.values()].map((provider) => snapshotOf(ctx, provider)));
}

/** At most five seconds old. */
export function snapshotOf(ctx: Pick<Context, 'log'>, provider: Provider): Promise<Snapshot> {
  const before = kept.get(provider);
  if (before && Date.now() - before.at < FRESH_MS) return before.snapshot;
  const snapshot = take(ctx, provider);
  kept.set(provider, { snapshot, at: Date.now() });
  return snapshot;
}

async function take({ log }: Pick<Context, 'log'>, provider: Provider): Promise<Snapshot> {
  const giveUp = new AbortController();
  const tooLate = wait(PATIENCE_MS, null, { signal: giveUp.signal, ref: false }).then(() =>
    unavailable(provider, `${provider.title} does not answer now`),
  );
  const asked = ask(provider).catch((error: unknown) => {
    log.warn({ err: error, provider: provider.name }, 'a cloud did not tell its offers');
    return unavailable(provider, `${provider.title} did not answer as it should`);
  });
  try {
    return await Promise.race([asked, tooLate]);
  } finally {
    giveUp.abort();
    tooLate.catch(ignoreAbort);
  }
}

async function ask(provider: Provider): Promise<Snapshot> {
  const readiness = await provider.readiness();
  const offers = readiness.state === 'ready' ? await provider.offers() : [];
  return { provider, readiness, offers, seenAt: new Date() };
}

function unavailable(provider: Provider, reason: string): Snapshot {
  return { provider, readiness: { state: 'unavailable', reason }, offers: [], seenAt: new Date() };
}

function ignoreAbort(error: unknown): void {
  if (!(error instanceof Error && error.name === 'AbortError')) throw error;
}
