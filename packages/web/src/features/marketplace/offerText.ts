import type { Offer } from '@stagi/contract/hardware.ts';
import { formatNumber } from '../../ui/format.ts';

/** `2 × H100 · 80 GB`; null without a GPU. */
export function gpuText({ gpu }: Pick<Offer, 'gpu'>): string | null {
  return gpu && gpu.count > 0 ? `${gpu.count} × ${gpu.name} · ${formatNumber(gpu.memoryGb)} GB` : null;
}

export function diskText({ disk }: Pick<Offer, 'disk'>): string {
  return `${formatNumber(disk.sizeGb, 0)} GB ${disk.type}`.trim();
}
