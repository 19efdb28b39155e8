import type { Offer, ProviderState } from '@stagi/contract/hardware.ts';
import { presentPrice, priceOf } from '../billing/price.ts';
import type { Config } from '../config/config.ts';
import type { Context } from '../context.ts';
import type { Provider, ProviderOffer } from '../providers/provider.ts';
import { type CloudSnapshot, readyCloudSnapshot } from './cloudSnapshots.ts';

/** With fewer free machines than this an offer is shown as low. */
const LOW_STOCK_BELOW = 3;

/** An offer with the price that the workspace pays. */
export interface RentableOffer {
  provider: Provider;
  offer: ProviderOffer;
  /** Micro-STAGI an hour. */
  pricePerHour: bigint;
  stoppedPricePerHour: bigint;
}

/** The current offer of a marketplace id; `null` when it is gone or sold out. Throws 503 while that is not known. */
export async function findAvailableOffer(
  ctx: Pick<Context, 'config' | 'providers' | 'log'>,
  offerId: string,
): Promise<RentableOffer | null> {
  const found = await findOfferOrSoldOut(ctx, offerId);
  return found && found.offer.available !== 0 ? found : null;
}

/** Like `findAvailableOffer`, but also finds sold-out offers. */
export async function findOfferOrSoldOut(
  ctx: Pick<Context, 'config' | 'providers' | 'log'>,
  offerId: string,
): Promise<RentableOffer | null> {
  const at = offerId.indexOf(':');
  const provider = ctx.providers.get(offerId.slice(0, at));
  if (at < 0 || !provider) return null;
  const { offers } = await readyCloudSnapshot(ctx, provider);
  const offer = offers.find(({ id }) => id === offerId.slice(at + 1));
  return offer ? rentableOffer(ctx.config, provider, offer) : null;
}

export function rentableOffers(config: Config, snapshot: CloudSnapshot): RentableOffer[] {
  return snapshot.offers.map((offer) => rentableOffer(config, snapshot.provider, offer));
}

function rentableOffer(config: Config, provider: Provider, offer: ProviderOffer): RentableOffer {
  return {
    provider,
    offer,
    pricePerHour: priceOf(config, provider.name, offer.pricePerHour),
    stoppedPricePerHour: priceOf(config, provider.name, offer.stoppedPricePerHour),
  };
}

export function presentOffer(
  config: Config,
  { provider, offer, pricePerHour, stoppedPricePerHour }: RentableOffer,
  seenAt: Date,
): Offer {
  return {
    offerId: `${provider.name}:${offer.id}`,
    provider: provider.name,
    providerTitle: provider.title,
    region: offer.region,
    gpu: offer.gpu,
    cpu: offer.cpu,
    ramGb: offer.ramGb,
    disk: offer.disk,
    pricePerHour: presentPrice(config, pricePerHour),
    stoppedPricePerHour: presentPrice(config, stoppedPricePerHour),
    spot: offer.spot,
    canStop: provider.traits.canStop,
    availability: availability(offer.available),
    seenAt: seenAt.toISOString(),
    simulated: provider.simulated ?? false,
  };
}

export function availability(available: number | null): Offer['availability'] {
  if (available === null) return 'unknown';
  if (available <= 0) return 'none';
  return available < LOW_STOCK_BELOW ? 'low' : 'available';
}

export function presentState({ provider, readiness }: CloudSnapshot): ProviderState {
  const state = { provider: provider.name, title: provider.title, state: readiness.state };
  switch (readiness.state) {
    case 'ready':
      return { ...state, detail: null, progress: null, since: null };
    case 'preparing':
      return {
        ...state,
        detail: readiness.step,
        progress: readiness.progress,
        since: readiness.since.toISOString(),
      };
    case 'unavailable':
      return { ...state, detail: readiness.reason, progress: null, since: null };
    default:
      throw new Error(`unknown readiness ${readiness satisfies never}`);
  }
}
