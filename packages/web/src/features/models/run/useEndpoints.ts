import { api } from '@stagi/contract/api.ts';
import type { EndpointStatus, ModelEndpoint } from '@stagi/contract/modelEndpoints.ts';
import { useQuery } from '@tanstack/react-query';
import { useEffect, useRef } from 'react';
import { call } from '../../../api/client.ts';
import { invalidate, q } from '../../../api/query.ts';
import { useSignedIn } from '../../../api/session.ts';
import { useHasPermission } from '../../../api/user.ts';

/** While one of them is on its way, its engine is asked this often whether it serves. */
const ASK_EVERY_MS = 3_000;
const LOOK_EVERY_MS = 15_000;
const MOST = 20;

/** Statuses that only an answer of the engine can change. */
const IS_ASKED: readonly EndpointStatus[] = ['loading', 'not answering'];

/** What serves this model in the workspace, newest first. Nothing is asked for visitors. */
export function useEndpoints(modelId: string) {
  const signedIn = useSignedIn();
  const mayRun = useHasPermission('INSTANCE_RENTED_MANAGEMENT', 'SELFHOSTED_INSTANCE_MANAGEMENT', 'PROJECT_MANAGEMENT');
  const input = { modelRef: { id: modelId }, entityFilterRequest: { limit: MOST } };
  const query = useQuery({
    ...q(api.modelEndpoints.list, input, { quiet: true }),
    enabled: signedIn && mayRun,
    refetchInterval: LOOK_EVERY_MS,
  });
  const endpoints: readonly ModelEndpoint[] = query.data?.entities ?? [];
  const asked = endpoints.filter(({ status }) => IS_ASKED.includes(status)).map(({ id }) => id);
  // One that was ready when the page was opened may have stopped since.
  const first = useRef(true);
  const ready = first.current ? endpoints.filter(({ status }) => status === 'ready').map(({ id }) => id) : [];
  useAsking([...asked, ...ready].join());
  useEffect(() => {
    if (query.data) first.current = false;
  }, [query.data]);
  return { ...query, endpoints, isAllowed: signedIn && mayRun };
}

/** Asks these engines now and then until the answers change what is listed. */
function useAsking(ids: string): void {
  useEffect(() => {
    if (ids === '') return;
    const ended = new AbortController();
    let timer: number | undefined;
    const ask = async () => {
      if (!document.hidden) {
        const options = { quiet: true, signal: ended.signal };
        await Promise.allSettled(
          ids.split(',').map((id) => call(api.modelEndpoints.check, { id: Number(id) }, options)),
        );
        await invalidate('model/endpoint/list');
      }
      if (!ended.signal.aborted) timer = window.setTimeout(() => void ask(), ASK_EVERY_MS);
    };
    void ask();
    return () => {
      ended.abort();
      window.clearTimeout(timer);
    };
  }, [ids]);
}
