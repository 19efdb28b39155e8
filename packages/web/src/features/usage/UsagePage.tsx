import { api } from '@stagi/contract/api.ts';
import { ROUTES } from '@stagi/contract/routes.ts';
import { IconChartBar, IconDownload } from '@tabler/icons-react';
import { Link } from 'react-router';
import { NotPermitted } from '../../access/NotPermitted.tsx';
import { canOpen } from '../../access/permissionChecks.ts';
import { useHasPermission, useUser } from '../../api/user.ts';
import { useT } from '../../i18n/i18n.ts';
import { ListPage } from '../../lists/ListPage.tsx';
import { ResourceLink } from '../../lists/ResourceLink.tsx';
import { useCsvExport } from '../../lists/useCsvExport.ts';
import { useList } from '../../lists/useList.ts';
import { useListState } from '../../lists/useListState.ts';
import { useRange } from '../../lists/useRange.ts';
import { paths } from '../../paths.ts';
import { ActionButton } from '../../ui/actions.tsx';
import { Button } from '../../ui/Button.tsx';
import { DateRangePicker } from '../../ui/dateRange/DateRangePicker.tsx';
import { PageHeader } from '../../ui/PageHeader.tsx';
import { PanelSkeleton } from '../../ui/Skeletons.tsx';
import { FILTERS, LATEST_START_FIRST, usageInput } from './listInput.ts';
import { SpendChart, SpendChartSkeleton } from './SpendChart.tsx';
import classes from './Usage.module.css';
import { UsageTotals } from './UsageTotals.tsx';
import { useUsageColumns } from './useUsageColumns.tsx';

/** Use is charged each minute. */
const REFETCH_MS = 60_000;

const BILLING = ['BILLING'] as const;

/** Open to every member; what it lists needs a permission. */
export function UsagePage() {
  const t = useT();
  if (useHasPermission(...BILLING)) return <UsageList />;
  return (
    <>
      <PageHeader title={t(ROUTES.usage.title)} />
      <NotPermitted name={t(ROUTES.usage.title)} permissions={BILLING} />
    </>
  );
}

/** The usage of each rented server and storage, and what was charged for it. */
function UsageList() {
  const t = useT();
  const { permissions, workspace } = useUser();
  const state = useListState({ sort: LATEST_START_FIRST, filters: FILTERS });
  const range = useRange(state);
  const list = useList(api.usage.list, { ...usageInput(state), ...range.bounds }, state, REFETCH_MS);
  const { data, isEmpty } = list;
  const columns = useUsageColumns();
  const mayOpen = useHasPermission('INSTANCE_RENTED_MANAGEMENT');
  const exporting = useCsvExport(
    api.usage.export,
    { ...range.bounds, queryString: state.request.queryString },
    `usage-${workspace?.clientId}`,
  );
  return (
    <ListPage
      title={t(ROUTES.usage.title)}
      about={t('Rented servers and storages are billed per second. The balance is charged every minute.')}
      headerActions={
        !isEmpty && (
          <ActionButton
            icon={<IconDownload size={16} />}
            testId="usage-export"
            loading={exporting.running}
            onClick={exporting.run}
          >
            {t('Export as CSV')}
          </ActionButton>
        )
      }
      above={
        !isEmpty &&
        (data ? (
          <div className={classes.top}>
            <UsageTotals total={data.total} />
            <SpendChart days={data.days} />
          </div>
        ) : (
          list.table.error === null && (
            <div className={classes.top}>
              <PanelSkeleton rows={4} />
              <SpendChartSkeleton />
            </div>
          )
        ))
      }
      list={list}
      search={t('Search by name')}
      filters={<DateRangePicker label={t('When')} value={range.value} onChange={range.set} clearable />}
      name="usage"
      rowTestId="usage-row"
      columns={columns}
      rowKey={({ id }) => id}
      rowLink={mayOpen ? ({ resource }, cell) => <ResourceLink resource={resource}>{cell}</ResourceLink> : undefined}
      noMatches={{
        title: t('No usage in this period'),
        text: t('Try a longer time range or other filters.'),
      }}
      empty={{
        icon: <IconChartBar size={20} />,
        title: t('No usage yet'),
        text: t('What your rented servers and storages cost will be listed here.'),
        action: canOpen(ROUTES.marketplace, permissions) && (
          <Button component={Link} to={paths.marketplace()}>
            {t('Rent a server')}
          </Button>
        ),
      }}
    />
  );
}
