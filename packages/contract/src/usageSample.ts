import { z } from 'zod';
import { Id } from './page.ts';

/** Seconds between two samples of a server. */
export const SAMPLE_SECONDS = 15;

export const MAX_MEASURED = 1e18;
/** A figure that the machine does not tell is null, never 0. */
const Measured = z.number().nonnegative().max(MAX_MEASURED).nullable();
const Traffic = {
  /** Bytes per second: received and sent by its network interfaces, read from and written to its disks. */
  received: Measured,
  sent: Measured,
  read: Measured,
  written: Measured,
};
/** Of a file system, in bytes. */
const FileSystem = z.object({ used: Measured, total: Measured });

/** What a server used since the sample before. Rates are averages of that time. */
export const UsageSample = z.object({
  server: z.object({
    /** In cores. */
    cpu: Measured,
    /** Bytes, without the page cache that the kernel can drop at once. */
    memory: Measured,
    memoryTotal: Measured,
    ...Traffic,
    /** Where Docker keeps images and containers. */
    disk: FileSystem,
    /** Where directories of containers lie; null: on the same file system. */
    dataDisk: FileSystem.nullable(),
  }),
  gpus: z
    .array(
      z.object({
        index: z.number().int().min(0).max(63),
        /** Per cent of the time in which it worked. */
        use: Measured,
        /** Bytes. */
        memory: Measured,
        memoryTotal: Measured,
        /** Degrees Celsius. */
        temperature: z.number().min(-273).max(1000).nullable(),
        /** Watts. */
        power: Measured,
      }),
    )
    .max(64),
  containers: z.array(z.object({ id: Id, cpu: Measured, memory: Measured, ...Traffic })).max(1000),
});
export type UsageSample = z.infer<typeof UsageSample>;
