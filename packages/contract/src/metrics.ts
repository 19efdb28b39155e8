import { z } from 'zod';
import { call } from './call.ts';
import { Ref } from './page.ts';
import { text } from './text.ts';

/** What is measured. Those of a GPU come once for each. */
export const MeasureName = z.enum([
  'cpu',
  'memory',
  'received',
  'sent',
  'read',
  'written',
  'disk',
  'dataDisk',
  'gpuUse',
  'gpuMemory',
  'gpuTemperature',
  'gpuPower',
]);
export type MeasureName = z.infer<typeof MeasureName>;

export const MeasureUnit = z.enum(['cores', 'bytes', 'bytes/s', '%', '°C', 'W']);
export type MeasureUnit = z.infer<typeof MeasureUnit>;

export const MetricSeries = z.object({
  name: MeasureName,
  unit: MeasureUnit,
  /** The index of the GPU that it is of. */
  gpu: z.number().int().optional(),
  /** What there is of it, or what a container may use; null where that is not known or not limited. */
  limit: z.number().nullable(),
  /** One figure for each of `times`, null where nothing was measured: the average and the highest. */
  avg: z.array(z.number().nullable()),
  max: z.array(z.number().nullable()),
});
export type MetricSeries = z.infer<typeof MetricSeries>;

/** How long figures are kept, the finest first. */
export const RESOLUTIONS = [
  { name: '15s', seconds: 15, days: 1 },
  { name: '1m', seconds: 60, days: 7 },
  { name: '15m', seconds: 900, days: 90 },
] as const;
export type Resolution = (typeof RESOLUTIONS)[number]['name'];

export const KEPT_DAYS = 90;

const input = z
  .intersection(
    Ref,
    z.object({
      /** The last hour by default. */
      from: z.iso.datetime().optional(),
      to: z.iso.datetime().optional(),
      /** The most figures of a series. */
      points: z.number().int().min(10, text('At least 10 points')).max(1000, text('At most 1,000 points')).default(500),
    }),
  )
  .superRefine(({ from, to }, context) => {
    const start = from ? Date.parse(from) : null;
    const end = to ? Date.parse(to) : Date.now();
    if (start !== null && start >= end)
      context.addIssue({ code: 'custom', path: ['from'], message: text('The start must be before the end') });
  });

const output = z.object({
  isSuccess: z.literal(true),
  from: z.string(),
  to: z.string(),
  /** Seconds from one of `times` to the next. At 15 these are the samples themselves, at the times they came. */
  step: z.number().int(),
  /** Seconds since 1970: the beginnings of the stretches that the figures are of. */
  times: z.array(z.number()),
  series: z.array(MetricSeries),
  /** When its newest sample came, also outside of the range; null before the first. */
  lastAt: z.string().nullable(),
  /** Whether its server's agent takes samples. An earlier one does not. */
  isMeasured: z.boolean(),
});
export type Metrics = z.infer<typeof output>;

export const metrics = {
  container: call({
    path: 'docker-container/metrics',
    summary: 'CPU, memory, network and disk use of a container over time.',
    auth: ['INSTANCE_RENTED_MANAGEMENT', 'SELFHOSTED_INSTANCE_MANAGEMENT', 'PROJECT_MANAGEMENT'],
    byToken: true,
    input,
    output,
  }),
  rented: call({
    path: 'instance-rented/metrics',
    summary: 'CPU, memory, network, disk and GPU use of a rented instance over time.',
    auth: ['INSTANCE_RENTED_MANAGEMENT'],
    byToken: true,
    input,
    output,
  }),
  selfHosted: call({
    path: 'self-hosted-instance/metrics',
    summary: 'CPU, memory, network, disk and GPU use of a self-hosted server over time.',
    auth: ['SELFHOSTED_INSTANCE_MANAGEMENT'],
    byToken: true,
    input,
    output,
  }),
};
