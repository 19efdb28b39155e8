import { api } from '@stagi/contract/api.ts';
import { ContainerStatus } from '@stagi/contract/containers.ts';
import { IconPlus } from '@tabler/icons-react';
import { Link, useSearchParams } from 'react-router';
import { useT } from '../../i18n/i18n.ts';
import { useList } from '../../layouts/useList.ts';
import { useListState } from '../../layouts/useListState.ts';
import { paths } from '../../paths.ts';
import { Button } from '../../ui/Button.tsx';
import { StatusFilter } from '../../ui/FilterMenu.tsx';
import { ListBar } from '../../ui/ListBar.tsx';
import { PageHeader } from '../../ui/PageHeader.tsx';
import { SearchBox } from '../../ui/SearchBox.tsx';
import { ContainerTable } from './ContainerTable.tsx';
import { CreateContainerPage } from './create/CreateContainerPage.tsx';

const REFETCH_MS = 15_000;

/** All containers, or the form for another when the address says so. */
export function ContainersPage() {
  const [params] = useSearchParams();
  return params.has('new') ? <CreateContainerPage /> : <AllContainers />;
}

function AllContainers() {
  const t = useT();
  const list = useListState();
  const containers = useList(api.containers.list, { entityFilterRequest: list.request }, list, REFETCH_MS);
  const some = list.narrowed || (containers.table.rows?.length ?? 1) > 0;
  const create = (
    <Button component={Link} to={paths.newContainer()} icon={<IconPlus size={16} />} data-testid="container-create">
      {t('Create a container')}
    </Button>
  );
  return (
    <>
      <PageHeader title={t('Containers')} actions={some && create}>
        {t('What runs on the servers of this workspace, rented or your own.')}
      </PageHeader>
      {some && (
        <ListBar>
          <SearchBox value={list.search} onChange={list.setSearch} placeholder={t('Search containers')} />
          <StatusFilter statuses={ContainerStatus.options} value={list.statuses} onChange={list.setStatuses} />
        </ListBar>
      )}
      <ContainerTable containers={containers} list={list} withServer create={create} />
    </>
  );
}
