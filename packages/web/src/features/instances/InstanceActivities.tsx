import { api } from '@stagi/contract/api.ts';
import { RentedStatus } from '@stagi/contract/instances.ts';
import { ActivityList } from '../../layouts/ActivityList.tsx';

export function InstanceActivities({ id }: { id: number }) {
  return <ActivityList of={api.instances.activities} id={id} statuses={RentedStatus.options} />;
}
