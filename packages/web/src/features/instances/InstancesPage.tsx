import { api } from '@stagi/contract/api.ts';
import { RentedStatus } from '@stagi/contract/instances.ts';
import { IconPlus, IconServerBolt } from '@tabler/icons-react';
import { Link } from 'react-router';
import { GettingStarted } from '../../gettingStarted/GettingStarted.tsx';
import { useT } from '../../i18n/i18n.ts';
import { ListPage } from '../../lists/ListPage.tsx';
import { useList } from '../../lists/useList.ts';
import { useListState } from '../../lists/useListState.ts';
import { paths } from '../../paths.ts';
import { Button } from '../../ui/Button.tsx';
import { StatusFilter } from '../../ui/table/StatusFilter.tsx';
import { useRentedActions } from './rented/useRentedActions.tsx';
import { useRentedColumns } from './rented/useRentedColumns.tsx';

const REFETCH_MS = 15_000;

/** The instances that the workspace rents. */
export function InstancesPage() {
  const t = useT();
  const state = useListState();
  const list = useList(api.instances.list, { entityFilterRequest: state.request }, state, REFETCH_MS);
  const actions = useRentedActions();
  const columns = useRentedColumns();
  return (
    <ListPage
      title={t('Instances')}
      about={t('Servers that this workspace rents.')}
      create={
        <Button component={Link} to={paths.marketplace()} icon={<IconPlus size={16} />} data-testid="instance-rent">
          {t('Rent a server')}
        </Button>
      }
      above={<GettingStarted />}
      list={list}
      search={t('Search instances')}
      filters={<StatusFilter statuses={RentedStatus.options} value={state.statuses} onChange={state.setStatuses} />}
      name="instances"
      rowTestId="instance-row"
      columns={columns}
      rowKey={({ id }) => id}
      rowName={({ title }) => title}
      rowLink={({ id }, cell) => <Link to={paths.instance(id)}>{cell}</Link>}
      actions={actions}
      noMatches={{
        title: t('No instance matches'),
        text: t('To see terminated instances, filter by that status.'),
      }}
      empty={{
        icon: <IconServerBolt size={20} />,
        title: t('No servers rented yet'),
        text: t('Choose one in the marketplace: it is ready in about 2 minutes and billed while it runs.'),
      }}
    />
  );
}
