/** An offer as it was when it was rented, kept with the instance. Prices are micro-STAGI as decimal strings. */
export interface StoredOffer {
  id: string;
  region: string;
  cpu: { name: string; cores: number };
  ramGb: number;
  gpu: { name: string; count: number; memoryGb: number } | null;
  disk: { type: string; sizeGb: number };
  canStop: boolean;
}
