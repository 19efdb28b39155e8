import { api } from '@stagi/contract/api.ts';
import type { AuditCheck } from '@stagi/contract/audit.ts';
import { useQuery } from '@tanstack/react-query';
import { q } from '../../api/query.ts';

const SHOWN = 6;
/** Progress is polled while a check runs; a check that somebody else started shows within a minute. */
const REFETCH_WHILE_RUNNING_MS = 1_500;
const REFETCH_MS = 60_000;

export const isRunning = ({ status }: AuditCheck): boolean => status === 'in queue' || status === 'running';

/** The last checks of all audit logs. */
export function useAuditChecks() {
  return useQuery({
    ...q(api.audit.listChecks, { entityFilterRequest: { limit: SHOWN } }, { quiet: true }),
    refetchInterval: ({ state }) => (state.data?.entities.some(isRunning) ? REFETCH_WHILE_RUNNING_MS : REFETCH_MS),
  });
}
