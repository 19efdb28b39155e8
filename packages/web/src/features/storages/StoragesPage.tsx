import { api } from '@stagi/contract/api.ts';
import { StorageStatus } from '@stagi/contract/storageRules.ts';
import { IconDatabase, IconPlus } from '@tabler/icons-react';
import { Link } from 'react-router';
import { useT } from '../../i18n/i18n.ts';
import { ListPage } from '../../lists/ListPage.tsx';
import { useList } from '../../lists/useList.ts';
import { useListState } from '../../lists/useListState.ts';
import { paths } from '../../paths.ts';
import { Button } from '../../ui/Button.tsx';
import { FilterMenu } from '../../ui/table/FilterMenu.tsx';
import { StatusFilter } from '../../ui/table/StatusFilter.tsx';
import { CreateStorage } from './CreateStorage.tsx';
import { KIND_FILTER, kindOf, storagesInput } from './listInput.ts';
import { useStorageActions } from './useStorageActions.tsx';
import { useStorageColumns } from './useStorageColumns.tsx';

/** What is used is announced by no event. */
const REFETCH_MS = 15_000;

export function StoragesPage() {
  const t = useT();
  const state = useListState({ filters: [KIND_FILTER] });
  const list = useList(api.storages.list, storagesInput(state), state, REFETCH_MS);
  const kind = kindOf(state);
  const actions = useStorageActions();
  const columns = useStorageColumns();
  return (
    <ListPage
      title={t('Storages')}
      about={t('S3 buckets of this workspace, and the log buckets of its rented servers.')}
      create={
        <Button component={Link} to={paths.newStorage()} icon={<IconPlus size={16} />} data-testid="storage-create">
          {t('Create a storage')}
        </Button>
      }
      list={list}
      search={t('Search storages')}
      filters={
        <>
          <StatusFilter statuses={StorageStatus.options} value={state.statuses} onChange={state.setStatuses} />
          <FilterMenu
            label={t('Kind')}
            options={[
              { value: 'storage', label: t('Storage') },
              { value: 'log', label: t('Log bucket') },
            ]}
            value={kind ? [kind] : []}
            // Both at once is the same as neither.
            onChange={(kinds) => state.setFilter(KIND_FILTER, kinds.find((one) => one !== kind) ?? '')}
          />
        </>
      }
      name="storages"
      rowTestId="storage-row"
      columns={columns}
      rowKey={({ id }) => id}
      rowName={({ title }) => title}
      rowLink={({ id }, cell) => <Link to={paths.storage(id)}>{cell}</Link>}
      actions={actions}
      noMatches={{
        title: t('No storage matches'),
        text: t('To see deleted storages, filter by that status.'),
      }}
      empty={{
        icon: <IconDatabase size={20} />,
        title: t('No storages yet'),
        text: t('Create one, make a key, and paste its snippet into any S3 tool. It is ready in seconds.'),
      }}
    >
      <CreateStorage />
    </ListPage>
  );
}
