import type { CatalogueModel } from './catalogue.ts';
import { type Precision, precisionOf, weightFormat } from './precision.ts';

/** Sizes of a model's files, from the smallest; `original` is what the publisher released. */
export const QUALITIES = ['S', 'M', 'L', 'XL', 'original'] as const;
export type Quality = (typeof QUALITIES)[number];

/** A published file of a model that engines can load. */
export interface PublishedFile {
  quality: Quality;
  precision: Precision;
  format: 'safetensors' | 'gguf';
  /** On the hub. */
  repository: string;
  /** Of a GGUF repository, which holds several files. */
  variant: string | null;
  /** As published; `null` where it is not known. */
  bytes: number | null;
}

/**
 * The published files of a model by quality, each quality from its most exact file on, safetensors before GGUF. A label
 * whose bytes per weight are not known is left out.
 */
export function filesOf(model: CatalogueModel): PublishedFile[] {
  const files = model.precisions.flatMap(({ precision: label, repository, variants, filesGB, filesGiB }) => {
    const isGguf = /^gg(uf|ml)$/i.test(label);
    const names = isGguf ? new Set([...(variants ?? []), ...Object.keys({ ...filesGB, ...filesGiB })]) : [null];
    return [...names].flatMap((variant): PublishedFile[] => {
      const precision = precisionOf(label, variant ?? undefined);
      if (!precision) return [];
      const quality = repository === model.id ? 'original' : qualityOf(precision);
      const bytes = sizeIn(filesGB, variant, 1e9) ?? sizeIn(filesGiB, variant, 2 ** 30);
      return [{ quality, precision, format: isGguf ? 'gguf' : 'safetensors', repository, variant, bytes }];
    });
  });
  return files.toSorted(
    (a, b) =>
      QUALITIES.indexOf(a.quality) - QUALITIES.indexOf(b.quality) ||
      (a.format === b.format ? 0 : a.format === 'safetensors' ? -1 : 1) ||
      weightFormat(b.precision).bytes - weightFormat(a.precision).bytes,
  );
}

/**
 * By bits of a weight: 16 and more are as good as the original, then 8, 5 to 6, 4 to 4.9, and fewer. GGUF counts the
 * whole file, scales and embeddings too: its three-bit files have up to 4.3 bits.
 */
export function qualityOf(precision: Precision): Quality {
  const { bytes, group } = weightFormat(precision);
  const bits = bytes * 8 - (group === 'gguf' ? 0.4 : 0);
  if (bits >= 15) return 'original';
  if (bits >= 7.5) return 'XL';
  if (bits >= 5) return 'L';
  return bits >= 4 ? 'M' : 'S';
}

/** The file of a quality that an engine is given when nothing else is said. */
export const fileOf = (
  files: readonly PublishedFile[],
  quality: Quality,
  format?: PublishedFile['format'],
): PublishedFile | undefined => files.find((file) => file.quality === quality && (!format || file.format === format));

function sizeIn(sizes: Record<string, number> | undefined, variant: string | null, unit: number): number | null {
  const size = variant === null ? undefined : sizes?.[variant];
  return size === undefined ? null : size * unit;
}
