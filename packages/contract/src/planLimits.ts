import type { Plan } from './user.ts';

/** What a plan allows; `null`: no limit. On the Free plan all but members count per person, over their workspaces. */
export interface PlanLimits {
  /** Members of a workspace. */
  members: number | null;
  /** Rented servers at a time, with a GPU and without one. */
  gpuServers: number | null;
  cpuOnlyServers: number | null;
  /** Own servers and projects that are there. */
  ownServers: number | null;
  projects: number | null;
  /** GB of storages and git repositories together. Log buckets do not count. */
  storageGb: number | null;
  /** Task runs a day (UTC), retries and schedules included. */
  runsPerDay: number | null;
}

export const PLAN_LIMITS: Record<Plan, PlanLimits> = {
  Free: {
    members: 2,
    gpuServers: 1,
    cpuOnlyServers: 5,
    ownServers: 5,
    projects: 20,
    storageGb: 50,
    runsPerDay: 50,
  },
  Individual: {
    members: 3,
    gpuServers: 2,
    cpuOnlyServers: 10,
    ownServers: 20,
    projects: 100,
    storageGb: 500,
    runsPerDay: 400,
  },
  Team: {
    members: 8,
    gpuServers: 8,
    cpuOnlyServers: 40,
    ownServers: 100,
    projects: 1_000,
    storageGb: 5_000,
    runsPerDay: 4_000,
  },
  Enterprise: {
    members: null,
    gpuServers: null,
    cpuOnlyServers: null,
    ownServers: null,
    projects: null,
    storageGb: null,
    runsPerDay: null,
  },
};
