import { api } from '@stagi/contract/api.ts';
import { type Instance, RentedStatus } from '@stagi/contract/instances.ts';
import { IconPlus, IconServerBolt } from '@tabler/icons-react';
import { Link } from 'react-router';
import { useT } from '../../i18n/i18n.ts';
import { useList } from '../../layouts/useList.ts';
import { useListState } from '../../layouts/useListState.ts';
import { paths } from '../../paths.ts';
import { ActionMenu } from '../../ui/actions.tsx';
import { Button } from '../../ui/Button.tsx';
import { DataTable } from '../../ui/DataTable.tsx';
import { EmptyState } from '../../ui/EmptyState.tsx';
import { StatusFilter } from '../../ui/FilterMenu.tsx';
import { ListBar } from '../../ui/ListBar.tsx';
import { NoMatches } from '../../ui/NoMatches.tsx';
import { PageHeader } from '../../ui/PageHeader.tsx';
import { SearchBox } from '../../ui/SearchBox.tsx';
import { useInstanceColumns } from './columns.tsx';
import { useInstanceActions } from './useInstanceActions.tsx';
import { useInstanceBulk } from './useInstanceBulk.tsx';

const REFETCH_MS = 15_000;

export function InstancesPage() {
  const t = useT();
  const list = useListState();
  const instances = useList(api.instances.list, { entityFilterRequest: list.request }, list, REFETCH_MS);
  const actions = useInstanceActions();
  const bulk = useInstanceBulk();
  const columns = useInstanceColumns();
  const some = list.narrowed || (instances.table.rows?.length ?? 1) > 0;
  const rent = (
    <Button component={Link} to={paths.marketplace()} icon={<IconPlus size={16} />} data-testid="instance-rent">
      {t('Rent a server')}
    </Button>
  );

  return (
    <>
      <PageHeader title={t('Instances')} actions={some && rent}>
        {t('Servers that this workspace rents.')}
      </PageHeader>
      {some && (
        <ListBar>
          <SearchBox value={list.search} onChange={list.setSearch} placeholder={t('Search instances')} />
          <StatusFilter statuses={RentedStatus.options} value={list.statuses} onChange={list.setStatuses} />
        </ListBar>
      )}
      <DataTable
        {...instances.table}
        label={t('Instances')}
        name="instances"
        rowTestId="instance-row"
        columns={columns}
        rowKey={(instance) => instance.id}
        rowLink={(instance, cell) => <Link to={paths.instance(instance.id)}>{cell}</Link>}
        rowActions={(instance: Instance) => (
          <ActionMenu
            label={t('Actions for {{title}}', { title: instance.title })}
            actions={() => actions.of(instance)}
          />
        )}
        rowName={({ title }) => title}
        bulk={bulk.actions}
        sort={list.sort}
        onSort={list.setSort}
        empty={
          list.narrowed ? (
            <NoMatches title={t('No instance matches')} onClear={list.clear}>
              {t('Terminated instances are listed only when you ask for that status.')}
            </NoMatches>
          ) : (
            <EmptyState icon={<IconServerBolt size={20} />} title={t('No servers rented yet')} action={rent}>
              {t('Choose one in the marketplace: it is ready in about 2 minutes and billed while it runs.')}
            </EmptyState>
          )
        }
      />
      {actions.dialog}
      {bulk.dialog}
    </>
  );
}
