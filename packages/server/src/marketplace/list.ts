import type { api } from '@stagi/contract/api.ts';
import type { ParsedInputOf } from '@stagi/contract/call.ts';
import type { Context } from '../context.ts';
import { offsetOf, pageOf } from '../http/paging.ts';
import { allCloudSnapshots } from './cloudSnapshots.ts';
import { presentOffer, presentState, type RentableOffer, rentableOffers } from './offers.ts';

type Input = ParsedInputOf<typeof api.hardware.offers>;

/** One page of all clouds' offers, and the state of each cloud. */
export async function listOffers(
  ctx: Pick<Context, 'config' | 'providers' | 'log'>,
  { filters, entityFilterRequest: request }: Input,
) {
  const seen = await allCloudSnapshots(ctx);
  const found = seen
    .flatMap((snapshot) =>
      rentableOffers(ctx.config, snapshot).map((rentable) => ({ rentable, seenAt: snapshot.seenAt })),
    )
    .filter(({ rentable }) => matchesFilters(rentable, filters) && matchesText(rentable, request.queryString))
    .toSorted((a, b) => compare(a.rentable, b.rentable, request));
  const page = found.slice(offsetOf(request), offsetOf(request) + request.limit);
  const entities = page.map(({ rentable, seenAt }) => presentOffer(ctx.config, rentable, seenAt));
  return { ...pageOf(entities, found.length, request), providers: seen.map(presentState) };
}

function matchesFilters({ provider, offer }: RentableOffer, filters: Input['filters']): boolean {
  if (filters.providers?.length && !filters.providers.includes(provider.name)) return false;
  if (filters.gpu === 'with' && !offer.gpu) return false;
  if (filters.gpu === 'without' && offer.gpu) return false;
  return offer.cpu.cores >= (filters.minCores ?? 0) && offer.ramGb >= (filters.minRamGb ?? 0);
}

function matchesText({ provider, offer }: RentableOffer, text: string | undefined): boolean {
  if (!text) return true;
  const words = [provider.title, offer.region, offer.cpu.name, offer.gpu?.name ?? '', offer.disk.type];
  return words.some((word) => word.toLowerCase().includes(text.toLowerCase()));
}

const SORT_KEYS: Record<Input['entityFilterRequest']['orderByField'], (rentable: RentableOffer) => number> = {
  price: ({ pricePerHour }) => Number(pricePerHour),
  cores: ({ offer }) => offer.cpu.cores,
  ram: ({ offer }) => offer.ramGb,
  gpu: ({ offer }) => (offer.gpu ? offer.gpu.count * offer.gpu.memoryGb : 0),
};

/** Among equals the cheaper one first; the id decides the rest, so that pages do not overlap. */
function compare(a: RentableOffer, b: RentableOffer, request: Input['entityFilterRequest']): number {
  const key = SORT_KEYS[request.orderByField];
  const direction = request.orderByDirection === 'asc' ? 1 : -1;
  return (
    direction * (key(a) - key(b)) ||
    SORT_KEYS.price(a) - SORT_KEYS.price(b) ||
    (`${a.provider.name}:${a.offer.id}` < `${b.provider.name}:${b.offer.id}` ? -1 : 1)
  );
}
