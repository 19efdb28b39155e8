import { NO_TERMINAL } from '@stagi/web/src/demo/answers.ts';

/** What an answer tells of the machine that it was recorded on, and of the simulated cloud, is told of made-up ones. */
const REPLACED: readonly [RegExp, string][] = [
  [/(https?|ssh|ws|wss):\/\/((?:[\w-]+@)?)(?:[\w-]+\.)*(?:127\.0\.0\.1|localhost)(:\d+)?/g, '$1://$2stagi.example'],
  [/(?:127\.0\.0\.1|localhost):\d+/g, 'stagi.example'],
  [/(?:::ffff:)?127\.0\.0\.1/g, '192.0.2.17'],
  [/HeadlessChrome/g, 'Chrome'],
  [/Simulated CPU/g, 'AMD EPYC 9354'],
  [/Simulated (L4|A100|H100)/g, 'NVIDIA $1'],
  [/(eu|us)-sim-1/g, '$1-north'],
  [/Simulated cloud/g, 'Aurora Cloud'],
  [/"provider":"(?:fake|nowhere)"/g, '"provider":"aurora"'],
  [/"providerTitle":"(?:fake|nowhere)"/g, '"providerTitle":"Aurora Cloud"'],
  [/simulated SSD/g, 'NVMe'],
  [/"terminalRefusal":(?:null|"[^"]*")/g, `"terminalRefusal":${JSON.stringify(NO_TERMINAL)}`],
  // The servers are rented nowhere.
  [/"The cloud nowhere[^"]*"/g, 'null'],
  [/"simulated":true/g, '"simulated":false'],
];

export function dressed<Answer>(answer: Answer): Answer {
  return JSON.parse(REPLACED.reduce((text, [from, to]) => text.replace(from, to), JSON.stringify(answer))) as Answer;
}

interface Offer {
  offerId: string;
  region: string;
  gpu: { name: string; count: number; memoryGb: number } | null;
  cpu: { name: string; cores: number };
  ramGb: number;
  disk: { type: string; sizeGb: number };
  pricePerHour: { STAGI: { decimalValue: string }; USD: { decimalValue: string } };
  availability: string;
}

const CPUS = ['AMD EPYC 9354', 'AMD EPYC 7763', 'Intel Xeon Platinum 8480C'];

/** GPU, memory in GB, how many, cores, RAM in GB, disk in GB, STAGI an hour. */
const OFFERS: readonly [string | null, number, number, number, number, number, string][] = [
  [null, 0, 0, 8, 32, 160, '0.16'],
  [null, 0, 0, 32, 128, 640, '0.61'],
  ['NVIDIA L4', 24, 2, 16, 64, 400, '1.34'],
  ['NVIDIA L40S', 48, 1, 16, 96, 500, '1.12'],
  ['NVIDIA L40S', 48, 4, 64, 384, 2000, '4.40'],
  ['NVIDIA GeForce RTX 4090', 24, 1, 16, 64, 500, '0.52'],
  ['NVIDIA GeForce RTX 4090', 24, 4, 64, 256, 2000, '2.04'],
  ['NVIDIA A100 80GB', 80, 2, 32, 240, 1000, '3.40'],
  ['NVIDIA A100 80GB', 80, 4, 64, 480, 2000, '6.72'],
  ['NVIDIA H100 80GB', 80, 1, 26, 225, 1000, '2.60'],
  ['NVIDIA H100 80GB', 80, 4, 104, 900, 3000, '10.20'],
  ['NVIDIA H200', 141, 8, 192, 2000, 7000, '27.60'],
];

/** The simulated cloud has four offers: a marketplace has more. They are sorted by price, as they are asked for first. */
export function withMoreOffers(answer: { entities: Offer[]; totalCount: number }): object {
  const [first] = answer.entities;
  if (!first) return answer;
  const more = OFFERS.map(([name, memoryGb, count, cores, ramGb, sizeGb, price], index) => ({
    ...first,
    offerId: `aurora:${index + 1}`,
    region: ['eu-north', 'us-east', 'ap-south'][index % 3]!,
    gpu: name === null ? null : { name, count, memoryGb },
    cpu: { name: CPUS[index % CPUS.length]!, cores },
    ramGb,
    disk: { type: 'NVMe', sizeGb },
    pricePerHour: {
      STAGI: { ...first.pricePerHour.STAGI, decimalValue: price },
      USD: { ...first.pricePerHour.USD, decimalValue: price },
    },
    availability: index % 4 === 3 ? 'low' : 'available',
  }));
  const entities = [...answer.entities, ...more].toSorted(
    (a, b) => Number(a.pricePerHour.STAGI.decimalValue) - Number(b.pricePerHour.STAGI.decimalValue),
  );
  return { ...answer, entities, totalCount: entities.length };
}
