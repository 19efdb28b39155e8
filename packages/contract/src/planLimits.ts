import type { Plan } from './user.ts';

/** The limits of a plan; `null`: no limit. */
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

/** The largest limit that an operator can set. */
export const QUOTA_MAX = 1_000_000;

export type Quota = keyof PlanLimits;

/** Limits that an operator has set for one workspace, in place of its plan's. */
export type PlanQuotas = Partial<PlanLimits>;

export interface WorkspacePlan {
  plan: Plan;
  quotas: PlanQuotas;
}

/**
 * The limits of a workspace: those of its plan, where an operator has set no others. On the Free plan all but members
 * count per person, over their Free workspaces. A quota that an operator has set counts in its workspace alone, and
 * what that workspace has of the kind does not count against the person's other Free workspaces.
 */
export function limitsOf({ plan, quotas }: WorkspacePlan): PlanLimits {
  return { ...PLAN_LIMITS[plan], ...quotas };
}

/** True when the owners of a workspace share this quota with their other Free workspaces: see `limitsOf`. */
export const isSharedQuota = ({ plan, quotas }: WorkspacePlan, quota: Quota): boolean =>
  plan === 'Free' && quota !== 'members' && !(quota in quotas);
