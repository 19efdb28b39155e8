import type { EngineTemplate } from '@stagi/contract/engineTemplates.ts';
import type { Offer } from '@stagi/contract/hardware.ts';
import type { MachineFacts } from '@stagi/contract/instances.ts';
import { text } from '@stagi/contract/text.ts';
import type { CatalogueModel, Gpu } from '@stagi/perf/catalogue.ts';
import { type OnServer, onServer, type ServerFacts } from '@stagi/perf/onServer.ts';
import type { PublishedFile } from '@stagi/perf/quality.ts';

/** What is to be served, and how. */
export interface Wanted {
  model: CatalogueModel;
  file: PublishedFile;
  template: EngineTemplate;
  context: number;
}

export const factsOfServer = ({ gpus, ramBytes }: MachineFacts): ServerFacts => ({
  ramBytes,
  gpus: gpus.map(({ name, memoryMb }) => ({ name, memoryGb: memoryMb / 1024 })),
});

export function factsOfOffer({ gpu, ramGb }: Offer): ServerFacts {
  const one = gpu && { name: gpu.name, memoryGb: gpu.memoryGb };
  return { ramBytes: ramGb * 2 ** 30, gpus: one ? Array.from({ length: gpu.count }, () => one) : [] };
}

/** The judgement that the server makes too when the form is sent. */
export const fitOn = (gpus: readonly Gpu[], facts: ServerFacts, { model, file, template, context }: Wanted): OnServer =>
  onServer(gpus, facts, { model, file, context, onCpu: template.image.cpu !== null, engine: template.perf });

/** Why a server is not offered, in a few words. */
export const NO_FIT_WORDS: Record<Extract<OnServer, { fits: false }>['reason'], string> = {
  'no gpu': text('No GPU'),
  'unknown gpu': text('Its GPU is not in the catalogue'),
  memory: text('Too little memory'),
  weights: text('Too large'),
  cache: text('Context too long'),
  context: text('Context too long'),
  heads: text('Heads do not divide'),
  unknown: text('Not known'),
};

/** Offers that fit, the cheapest first. */
export function fittingOffers(gpus: readonly Gpu[], offers: readonly Offer[], wanted: Wanted): Offer[] {
  const price = ({ pricePerHour }: Offer) => Number(pricePerHour.STAGI.decimalValue);
  return offers
    .filter((offer) => offer.availability !== 'none' && fitOn(gpus, factsOfOffer(offer), wanted).fits)
    .toSorted((a, b) => price(a) - price(b));
}
