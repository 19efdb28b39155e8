import type { T } from '../../../i18n/i18n.ts';
import { formatContext, formatParameters } from '../modelWords.ts';
import { type gpuOf, sizeOf } from './modelsInput.ts';

/** `Up to 4B`, `4B–10B`, `130B and more`; of bounds in billions, as the address writes them. */
export function sizeLabel(t: T, size: string): string {
  const { min, max } = sizeOf({ filter: () => size }) ?? {};
  const words = { min: formatParameters((min ?? 0) * 1e9), max: formatParameters((max ?? 0) * 1e9) };
  if (min === undefined) return t('Up to {{max}}', words);
  return max === undefined ? t('{{min}} and more', words) : `${words.min}–${words.max}`;
}

export const contextLabel = (tokens: number): string => `≥ ${formatContext(tokens)}`;

interface KnownGpu {
  id: string;
  name: string;
  memoryGb: number;
}

/** `2 × H100 SXM` */
export function gpuLabel(gpus: readonly KnownGpu[] | undefined, { id, count }: NonNullable<ReturnType<typeof gpuOf>>) {
  const name = gpus?.find((gpu) => gpu.id === id)?.name ?? id;
  return count === 1 ? name : `${count} × ${name}`;
}
