import { api } from '@stagi/contract/api.ts';
import { useQuery } from '@tanstack/react-query';
import { q } from '../api/query.ts';

const REFETCH_MS = 60_000;

export function useBalance() {
  return useQuery({ ...q(api.billing.balance, {}, { quiet: true }), refetchInterval: REFETCH_MS });
}
