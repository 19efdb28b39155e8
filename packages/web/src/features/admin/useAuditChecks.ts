import { api } from '@stagi/contract/api.ts';
import type { AuditCheck } from '@stagi/contract/audit.ts';
import { useQuery } from '@tanstack/react-query';
import { q } from '../../api/query.ts';

const SHOWN = 6;
/** While a check goes on its progress is read so often; else one that others began is seen within a minute. */
const SOON_MS = 1_500;
const LATER_MS = 60_000;

export const goesOn = ({ status }: AuditCheck): boolean => status === 'in queue' || status === 'running';

/** The last checks of all audit logs. */
export function useAuditChecks() {
  return useQuery({
    ...q(api.audit.listChecks, { entityFilterRequest: { limit: SHOWN } }, { quiet: true }),
    refetchInterval: ({ state }) => (state.data?.entities.some(goesOn) ? SOON_MS : LATER_MS),
  });
}
