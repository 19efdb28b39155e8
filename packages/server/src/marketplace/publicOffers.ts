import { PUBLIC_OFFERS_MAX, type PublicOffer } from '@stagi/contract/publicOffers.ts';
import { presentPrice } from '../billing/price.ts';
import type { Config } from '../config/config.ts';
import type { Context } from '../context.ts';
import { allCloudSnapshots } from './cloudSnapshots.ts';
import { availability, type RentableOffer, rentableOffers } from './offers.ts';

/** Kinds without a GPU that stay in an answer that has more kinds than it may name. */
const CPU_ONLY_KINDS = 3;

/** What visitors see of the marketplace: real machines that can be rented now, the cheapest of each kind. */
export async function listPublicOffers(ctx: Pick<Context, 'config' | 'providers' | 'log'>) {
  const real = (await allCloudSnapshots(ctx)).filter(({ provider }) => !provider.simulated);
  const offers = real
    .flatMap((snapshot) => rentableOffers(ctx.config, snapshot))
    .filter(({ offer }) => offer.available !== 0);
  return {
    isSuccess: true as const,
    entities: chosenKinds(cheapestOfEachKind(offers)).map((rentable) => present(ctx.config, rentable)),
    preparing: real.some(({ readiness }) => readiness.state === 'preparing'),
  };
}

/** Cheapest first. */
function cheapestOfEachKind(offers: readonly RentableOffer[]): RentableOffer[] {
  const kinds = new Map<string, RentableOffer>();
  for (const rentable of offers.toSorted(byPrice))
    if (!kinds.has(kindOf(rentable))) kinds.set(kindOf(rentable), rentable);
  return [...kinds.values()];
}

const byPrice = (a: RentableOffer, b: RentableOffer): number => Number(a.pricePerHour - b.pricePerHour);

function kindOf({ offer: { gpu, cpu, ramGb } }: RentableOffer): string {
  return gpu ? `${gpu.count} × ${gpu.name}, ${gpu.memoryGb} GB` : `${cpu.cores} cores, ${ramGb} GB`;
}

/** Those with GPUs first; the others get what is left, at least three places if there are as many of them. */
function chosenKinds(kinds: readonly RentableOffer[]): RentableOffer[] {
  const withGpu = kinds.filter(({ offer }) => offer.gpu);
  const cpuOnly = kinds.filter(({ offer }) => !offer.gpu);
  const placesOfGpus = PUBLIC_OFFERS_MAX - Math.min(cpuOnly.length, CPU_ONLY_KINDS);
  return [...withGpu.slice(0, placesOfGpus), ...cpuOnly].slice(0, PUBLIC_OFFERS_MAX);
}

function present(config: Config, { provider, offer, pricePerHour }: RentableOffer): PublicOffer {
  return {
    gpu: offer.gpu,
    cpu: offer.cpu,
    ramGb: offer.ramGb,
    provider: provider.title,
    region: offer.region,
    spot: offer.spot,
    pricePerHour: presentPrice(config, pricePerHour),
    availability: availability(offer.available),
  };
}
