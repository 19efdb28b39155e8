import { api } from '@stagi/contract/api.ts';
import type { ModelEndpoint } from '@stagi/contract/modelEndpoints.ts';
import { useQuery } from '@tanstack/react-query';
import { q } from '../../../api/query.ts';
import { useSignedIn } from '../../../api/session.ts';
import { useHasPermission } from '../../../api/user.ts';

/** Besides what events tell. */
const LIST_EVERY_MS = 15_000;
const MOST = 20;

/** What serves this model in the workspace, newest first. Nothing is asked for visitors. */
export function useEndpoints(modelId: string) {
  const signedIn = useSignedIn();
  const mayRun = useHasPermission('INSTANCE_RENTED_MANAGEMENT', 'SELFHOSTED_INSTANCE_MANAGEMENT', 'PROJECT_MANAGEMENT');
  const input = { modelRef: { id: modelId }, entityFilterRequest: { limit: MOST } };
  const query = useQuery({
    ...q(api.modelEndpoints.list, input, { quiet: true }),
    enabled: signedIn && mayRun,
    refetchInterval: LIST_EVERY_MS,
  });
  const endpoints: readonly ModelEndpoint[] = query.data?.entities ?? [];
  return { ...query, endpoints, isAllowed: signedIn && mayRun };
}
