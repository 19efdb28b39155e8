import { z } from 'zod';
import type { Counters } from './counters.ts';
import { withoutCache } from './machineCounters.ts';

export interface ContainerCounters extends Counters {
  memoryBytes: number | null;
}

const Count = z.number().nonnegative();

/** The part of Docker's "get container stats" that is read. A kernel without a controller leaves its part out. */
const Stats = z.object({
  read: z.string(),
  cpu_stats: z.object({ cpu_usage: z.object({ total_usage: Count }).optional() }).optional(),
  memory_stats: z
    .object({
      usage: Count.optional(),
      /** Control groups version 2 say `inactive_file`, version 1 `total_inactive_file`. */
      stats: z.object({ inactive_file: Count.optional(), total_inactive_file: Count.optional() }).optional(),
    })
    .optional(),
  networks: z.record(z.string(), z.object({ rx_bytes: Count, tx_bytes: Count })).nullish(),
  blkio_stats: z
    .object({ io_service_bytes_recursive: z.array(z.object({ op: z.string(), value: Count })).nullish() })
    .optional(),
});

/** Null for a container that does not run: Docker then answers with the year 1. */
export function countersFrom(answer: unknown): ContainerCounters | null {
  const { read, cpu_stats, memory_stats, networks, blkio_stats } = Stats.parse(answer);
  if (read.startsWith('0001-')) return null;
  const cpu = cpu_stats?.cpu_usage?.total_usage;
  const { inactive_file, total_inactive_file } = memory_stats?.stats ?? {};
  const interfaces = networks ? Object.values(networks) : [];
  const disks = blkio_stats?.io_service_bytes_recursive ?? [];
  const io = (op: string) => sum(disks.filter((one) => one.op.toLowerCase() === op).map(({ value }) => value));
  return {
    at: Date.parse(read),
    cpuSeconds: cpu === undefined ? null : cpu / 1e9,
    memoryBytes: withoutCache(memory_stats?.usage ?? null, total_inactive_file ?? inactive_file ?? null),
    receivedBytes: sum(interfaces.map(({ rx_bytes }) => rx_bytes)),
    sentBytes: sum(interfaces.map(({ tx_bytes }) => tx_bytes)),
    readBytes: io('read'),
    writtenBytes: io('write'),
  };
}

/** Of nothing null: what is not there is not 0. */
function sum(values: readonly number[]): number | null {
  return values.length === 0 ? null : values.reduce((total, value) => total + value, 0);
}
