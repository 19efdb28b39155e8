import { api } from '@stagi/contract/api.ts';
import type { EndpointStatus, ModelEndpoint } from '@stagi/contract/modelEndpoints.ts';
import { useQuery } from '@tanstack/react-query';
import { useEffect } from 'react';
import { call } from '../../../api/client.ts';
import { invalidate, q } from '../../../api/query.ts';
import { useSignedIn } from '../../../api/session.ts';
import { useHasPermission } from '../../../api/user.ts';

/** How often an engine is asked whether it serves: while that is awaited, and while it did the last time. */
const AWAITED_EVERY_MS = 3_000;
const READY_EVERY_MS = 15_000;
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

/** Asks the engines whose status only an answer can change, as long as the page is looked at. */
export function useEngineChecks(endpoints: readonly ModelEndpoint[]): void {
  const idsOf = (...statuses: EndpointStatus[]) =>
    endpoints.flatMap(({ id, status }) => (statuses.includes(status) ? id : [])).join();
  useChecks(idsOf('loading', 'not answering'), AWAITED_EVERY_MS);
  useChecks(idsOf('ready'), READY_EVERY_MS);
}

/** `ids`: separated by commas, so that the same ones are the same value. */
function useChecks(ids: string, everyMs: number): void {
  useEffect(() => {
    if (ids === '') return;
    const ended = new AbortController();
    let timer: number | undefined;
    const check = async () => {
      if (!document.hidden) {
        const options = { quiet: true, signal: ended.signal };
        await Promise.allSettled(
          ids.split(',').map((id) => call(api.modelEndpoints.check, { id: Number(id) }, options)),
        );
        await invalidate('model/endpoint/list');
      }
      if (!ended.signal.aborted) timer = window.setTimeout(() => void check(), everyMs);
    };
    void check();
    return () => {
      ended.abort();
      window.clearTimeout(timer);
    };
  }, [ids, everyMs]);
}
