import { api } from '@stagi/contract/api.ts';
import type { ImageOperation } from '@stagi/contract/serverImages.ts';
import { useQuery } from '@tanstack/react-query';
import { q } from '../../../api/query.ts';

const REFETCH_MS = 15_000;
/** While the server is at a removal. */
const REFETCH_WHILE_WAITING_MS = 1_000;

/** The images of a server and what it was asked to remove. */
export function useServerImages(id: number) {
  return useQuery({
    ...q(api.serverImages.list, { instanceRef: { id } }, { quiet: true }),
    refetchInterval: ({ state }) => (state.data?.operations.some(isWaiting) ? REFETCH_WHILE_WAITING_MS : REFETCH_MS),
  });
}

export const isWaiting = ({ state }: ImageOperation): boolean => state === 'waiting';
