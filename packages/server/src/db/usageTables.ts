import type { Generated } from 'kysely';

/** What one server, one of its containers or one of its GPUs used in a stretch of time. */
export interface UsageSampleTable {
  instance_id: number;
  /** 0: of the server itself. */
  container_id: number;
  /** -1: of no GPU. */
  gpu: number;
  at: Date;
  samples: number;
  cpu: number | null;
  memory: number | null;
  received: number | null;
  sent: number | null;
  read: number | null;
  written: number | null;
  disk: number | null;
  data_disk: number | null;
  gpu_use: number | null;
  gpu_memory: number | null;
  gpu_temperature: number | null;
  gpu_power: number | null;
  /** Null where it is the average of one sample. */
  cpu_max: number | null;
  memory_max: number | null;
  received_max: number | null;
  sent_max: number | null;
  read_max: number | null;
  written_max: number | null;
  disk_max: number | null;
  data_disk_max: number | null;
  gpu_use_max: number | null;
  gpu_memory_max: number | null;
  gpu_temperature_max: number | null;
  gpu_power_max: number | null;
  memory_total: number | null;
  disk_total: number | null;
  data_disk_total: number | null;
  gpu_memory_total: number | null;
}

/** Up to when the finer samples were thinned into the table of this resolution. */
export interface UsageThinningTable {
  resolution: string;
  until: Generated<Date>;
}
