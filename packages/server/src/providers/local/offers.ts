import { hostname } from 'node:os';
import type { ProviderOffer } from '../provider.ts';

export interface Size {
  offerId: string;
  cores: number;
  ramGb: number;
}

/** The capacity of this machine, and the memory that its rented machines use. */
export interface Host {
  cpuName: string;
  cores: number;
  memoryGb: number;
  diskFreeGb: number;
  committedGb: number;
}

const sizes: Size[] = (
  [
    [1, 2],
    [2, 4],
    [2, 8],
    [4, 8],
    [4, 16],
    [8, 16],
    [8, 32],
    [16, 64],
  ] as const
).map(([cores, ramGb]) => ({ offerId: `local-${cores}c-${ramGb}g`, cores, ramGb }));

/** Micro-STAGI an hour (decisions: 0.05 a core and 0.01 a GB). */
const pricePerCore = 50_000n;
const pricePerGb = 10_000n;

export function sizeOf(offerId: string): Size | null {
  return sizes.find((size) => size.offerId === offerId) ?? null;
}

export function localOffers(host: Host): ProviderOffer[] {
  return sizes
    .filter(({ cores, ramGb }) => cores <= host.cores && ramGb <= capacityGb(host))
    .map(({ offerId, cores, ramGb }) => ({
      id: offerId,
      region: hostname(),
      cpu: { name: host.cpuName, cores },
      ramGb,
      gpu: null,
      disk: { type: 'shared', sizeGb: Math.floor(host.diskFreeGb) },
      pricePerHour: BigInt(cores) * pricePerCore + BigInt(ramGb) * pricePerGb,
      stoppedPricePerHour: 0n,
      spot: false,
      available: Math.floor(availableGb(host) / ramGb),
    }));
}

/** Memory that can still be rented. */
export function availableGb(host: Host): number {
  return Math.max(0, capacityGb(host) - host.committedGb);
}

/** A fifth, at least 1.5 GB, is reserved for the platform, Docker and other programs. */
function capacityGb(host: Host): number {
  return host.memoryGb - Math.max(1.5, host.memoryGb / 5);
}
