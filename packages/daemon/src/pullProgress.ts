import { PULLED_LAYERS_MAX, type PulledLayer } from '@stagi/contract/pulledLayer.ts';
import { z } from 'zod';

const Event = z.object({
  id: z.string().optional(),
  status: z.string().optional(),
  progressDetail: z.object({ current: z.number().optional(), total: z.number().optional() }).optional(),
  error: z.string().optional(),
});

export interface PullProgress {
  /** 0 … 1; null until Docker has named a layer. Never falls. */
  fraction: number | null;
  detail: string;
  /** In the order in which Docker has named them. */
  layers: PulledLayer[];
}

/** The share of the download in a layer's progress; extracting is the rest. */
const DOWNLOAD_SHARE = 0.7;

/**
 * Adds up Docker's progress of single layers. `take` returns the total, or null when an event is not about a layer. It
 * throws Docker's error, which a pull reports in its stream after the 200.
 */
export function pullProgress(): { take(event: unknown): PullProgress | null } {
  const layers = new Map<string, { share: number; received: number; total: number; status: PulledLayer['status'] }>();
  let fraction: number | null = null;
  return {
    take(raw) {
      const event = Event.safeParse(raw).data;
      if (event?.error) throw new Error(event.error);
      if (!event?.id || event.status === undefined || event.status.startsWith('Pulling from')) return null;
      const layer = layers.get(event.id) ?? { share: 0, received: 0, total: 0, status: 'waiting' };
      layers.set(event.id, layer);
      const { current = 0, total = 0 } = event.progressDetail ?? {};
      const part = total > 0 ? Math.min(1, current / total) : 0;
      if (event.status === 'Downloading') {
        layer.share = Math.max(layer.share, part * DOWNLOAD_SHARE);
        layer.received = current;
        layer.total = Math.max(layer.total, total);
        layer.status = 'downloading';
      } else if (event.status === 'Download complete' || event.status === 'Verifying Checksum') {
        layer.share = Math.max(layer.share, DOWNLOAD_SHARE);
        layer.received = layer.total;
      } else if (event.status === 'Extracting') {
        layer.share = Math.max(layer.share, DOWNLOAD_SHARE + part * (1 - DOWNLOAD_SHARE));
        layer.status = 'extracting';
      } else if (event.status === 'Pull complete' || event.status === 'Already exists') {
        layer.share = 1;
        layer.received = layer.total;
        layer.status = 'done';
      }
      const all = [...layers.values()];
      fraction = Math.max(fraction ?? 0, all.reduce((sum, { share }) => sum + share, 0) / all.length);
      const received = all.reduce((sum, one) => sum + one.received, 0);
      const known = all.reduce((sum, one) => sum + one.total, 0);
      return {
        fraction,
        layers: [...layers].slice(0, PULLED_LAYERS_MAX).map(([id, one]) => ({
          id: id.slice(0, 80),
          status: one.status,
          current: Math.min(one.received, one.total),
          total: one.total > 0 ? one.total : null,
        })),
        detail: known > 0 ? `${megabytes(received)} of ${megabytes(known)} MB` : `${all.length} layers`,
      };
    },
  };
}

export function megabytes(bytes: number): string {
  return (bytes / 1e6).toFixed(bytes < 1e7 ? 1 : 0);
}
