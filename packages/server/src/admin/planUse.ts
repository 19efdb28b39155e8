import type { PlanUse } from '@stagi/contract/adminClients.ts';
import { GB } from '@stagi/contract/storageRules.ts';
import type { Db } from '../db/schema.ts';
import { countRented } from '../instances/quota.ts';
import { seatsOf } from '../invites/seats.ts';
import { countProjects } from '../projects/quota.ts';
import { countOwnServers } from '../selfHosted/quota.ts';
import { countStoredBytes } from '../storages/quota.ts';
import { countRunsToday } from '../tasks/quota.ts';

const NO_OWNERS: number[] = [];

/** The use of each quota by a workspace, without the other workspaces of its owners. */
export async function planUseOf(db: Db, id: number): Promise<PlanUse> {
  return {
    members: (await seatsOf(db, id)).used,
    gpuServers: await countRented(db, id, NO_OWNERS, { hasGpu: true }),
    cpuOnlyServers: await countRented(db, id, NO_OWNERS, { hasGpu: false }),
    ownServers: await countOwnServers(db, id, NO_OWNERS),
    projects: await countProjects(db, id, NO_OWNERS),
    storageGb: Number(await countStoredBytes(db, id, NO_OWNERS)) / GB,
    runsPerDay: await countRunsToday(db, id, NO_OWNERS),
  };
}
