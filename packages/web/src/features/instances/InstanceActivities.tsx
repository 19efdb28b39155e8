import { api } from '@stagi/contract/api.ts';
import { useList } from '../../layouts/useList.ts';
import { useListState } from '../../layouts/useListState.ts';
import { ActivityTable } from '../../ui/ActivityTable.tsx';

export function InstanceActivities({ id }: { id: number }) {
  const list = useListState();
  const { table } = useList(
    api.instances.activities,
    { id, entityFilterRequest: { page: list.page, limit: 20 } },
    list,
  );
  return <ActivityTable {...table} />;
}
