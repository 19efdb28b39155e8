import { api } from '@stagi/contract/api.ts';
import type { Container } from '@stagi/contract/containers.ts';
import { invalidate, queryClient } from '../../api/query.ts';
import { useMayManage } from './useContainerActions.tsx';

/** Whether the person may change a container, and how its answer is shown everywhere. */
export function useContainerChange(container: Container) {
  const may = useMayManage()(container);
  function change(answer: { isSuccess: true; entity: Container }): void {
    queryClient.setQueryData([api.containers.view.path, { id: container.id }], answer);
    void invalidate('docker-container/', 'instance-rented/', 'self-hosted-instance/');
  }
  return { may, change };
}
