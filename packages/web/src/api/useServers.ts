import { api } from '@stagi/contract/api.ts';
import type { MachineFacts } from '@stagi/contract/instances.ts';
import { useQuery } from '@tanstack/react-query';
import { errorText } from './messages.ts';
import { q } from './query.ts';
import { useHasPermission } from './user.ts';

/** A server that can run containers, rented or self-hosted. */
export interface Server {
  id: number;
  kind: 'rented' | 'self-hosted';
  title: string;
  status: string;
  freeCpus: number | null;
  facts: MachineFacts | null;
}

const ALL = { entityFilterRequest: { limit: 100, orderByField: 'title', orderByDirection: 'asc' as const } };

/** The servers of both kinds that the person may manage; undefined while they load. */
export function useServers(): { servers: Server[] | undefined; error: string | null; retry(): void } {
  const mayRented = useHasPermission('INSTANCE_RENTED_MANAGEMENT');
  const mayOwn = useHasPermission('SELFHOSTED_INSTANCE_MANAGEMENT');
  const rented = useQuery({ ...q(api.instances.list, ALL, { quiet: true }), enabled: mayRented });
  const own = useQuery({ ...q(api.selfHosted.list, ALL, { quiet: true }), enabled: mayOwn });
  const pending = (mayRented && !rented.data) || (mayOwn && !own.data);
  const error = rented.error ?? own.error;
  return {
    servers: pending
      ? undefined
      : [
          ...(rented.data?.entities ?? []).map((server) => ({ ...server, kind: 'rented' as const })),
          ...(own.data?.entities ?? []).map((server) => ({ ...server, kind: 'self-hosted' as const })),
        ],
    error: error ? errorText(error) : null,
    retry: () => {
      if (rented.error) void rented.refetch();
      if (own.error) void own.refetch();
    },
  };
}
