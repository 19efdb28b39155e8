import type { Offer } from '@stagi/contract/hardware.ts';
import type { T } from '../../i18n/i18n.ts';
import { formatNumber } from '../../ui/format.ts';

/** `2 cores · 8 GB` */
export function shapeText(t: T, { cpu, ramGb }: Pick<Offer, 'cpu' | 'ramGb'>): string {
  return `${t('{{count}} cores', { count: cpu.cores })} · ${formatNumber(ramGb)} GB`;
}

/** `2 × H100 · 80 GB`; null without a GPU. */
export function gpuText({ gpu }: Pick<Offer, 'gpu'>): string | null {
  return gpu && gpu.count > 0 ? `${gpu.count} × ${gpu.name} · ${formatNumber(gpu.memoryGb)} GB` : null;
}

export function diskText({ disk }: Pick<Offer, 'disk'>): string {
  return `${formatNumber(disk.sizeGb, 0)} GB ${disk.type}`.trim();
}
