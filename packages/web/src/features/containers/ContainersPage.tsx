import { api } from '@stagi/contract/api.ts';
import { ContainerStatus } from '@stagi/contract/containers.ts';
import { IconPlus } from '@tabler/icons-react';
import { Suspense } from 'react';
import { Link, useSearchParams } from 'react-router';
import { GettingStarted } from '../../gettingStarted/GettingStarted.tsx';
import { useT } from '../../i18n/i18n.ts';
import { lazyComponent } from '../../lazyChunks.ts';
import { ListPage } from '../../lists/ListPage.tsx';
import { useList } from '../../lists/useList.ts';
import { useListState } from '../../lists/useListState.ts';
import { paths } from '../../paths.ts';
import { Button } from '../../ui/Button.tsx';
import { FormSkeleton } from '../../ui/Skeletons.tsx';
import { StatusFilter } from '../../ui/table/StatusFilter.tsx';
import { useContainerTable } from './useContainerTable.tsx';

const REFETCH_MS = 15_000;

/** Code of its own: the list does not wait for it. */
const CreateContainerPage = lazyComponent(
  async () => (await import('./create/CreateContainerPage.tsx')).CreateContainerPage,
);

/** The list of all containers, or with `?new` the form that creates one. */
export function ContainersPage() {
  const [params] = useSearchParams();
  return params.has('new') ? (
    <Suspense fallback={<FormSkeleton />}>
      <CreateContainerPage />
    </Suspense>
  ) : (
    <AllContainers />
  );
}

function AllContainers() {
  const t = useT();
  const state = useListState();
  const list = useList(api.containers.list, { entityFilterRequest: state.request }, state, REFETCH_MS);
  const table = useContainerTable(list, { withServer: true });
  return (
    <ListPage
      title={t('Containers')}
      about={t('Containers on the servers of this workspace, rented or your own.')}
      create={
        <Button component={Link} to={paths.newContainer()} icon={<IconPlus size={16} />} data-testid="container-create">
          {t('Create a container')}
        </Button>
      }
      above={<GettingStarted />}
      filters={<StatusFilter statuses={ContainerStatus.options} value={state.statuses} onChange={state.setStatuses} />}
      {...table}
    />
  );
}
