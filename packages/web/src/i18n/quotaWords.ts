import type { Quota } from '@stagi/contract/planLimits.ts';
import { text } from '@stagi/contract/text.ts';

/** Names of the things that the limits of a plan count. */
export const QUOTA_WORDS: Record<Quota, string> = {
  members: text('Members'),
  gpuServers: text('Rented GPU servers at a time'),
  cpuOnlyServers: text('Rented servers without a GPU at a time'),
  ownServers: text('Own servers'),
  projects: text('Projects'),
  storageGb: text('Storages and repositories in GB'),
  runsPerDay: text('Task runs a day'),
};
