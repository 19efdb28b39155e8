import { api } from '@stagi/contract/api.ts';
import { ROUTES } from '@stagi/contract/routes.ts';
import { IconChartBar, IconDownload } from '@tabler/icons-react';
import { Link } from 'react-router';
import { useMay, useUser } from '../../api/user.ts';
import { useT } from '../../i18n/i18n.ts';
import { opens } from '../../layouts/menuGate.ts';
import { useCsvExport } from '../../layouts/useCsvExport.ts';
import { useList } from '../../layouts/useList.ts';
import { useListState } from '../../layouts/useListState.ts';
import { useRange } from '../../layouts/useRange.ts';
import { paths } from '../../paths.ts';
import { ActionButton } from '../../ui/actions.tsx';
import { Button } from '../../ui/Button.tsx';
import { DataTable } from '../../ui/DataTable.tsx';
import { DateRangePicker } from '../../ui/dateRange/DateRangePicker.tsx';
import { EmptyState } from '../../ui/EmptyState.tsx';
import { ListBar } from '../../ui/ListBar.tsx';
import { NoMatches } from '../../ui/NoMatches.tsx';
import { PageHeader } from '../../ui/PageHeader.tsx';
import { SearchBox } from '../../ui/SearchBox.tsx';
import { PanelSkeleton } from '../../ui/Skeletons.tsx';
import { FILTERS, NEWEST, usageInput } from './listInput.ts';
import { SpendChart, SpendChartSkeleton } from './SpendChart.tsx';
import classes from './Usage.module.css';
import { UsageTotals } from './UsageTotals.tsx';
import { useUsageColumns } from './useUsageColumns.tsx';

/** Use is charged each minute. */
const REFETCH_MS = 60_000;

/** What each rented server cost, second by second, and what was charged for it. */
export function UsagePage() {
  const t = useT();
  const { permissions, workspace } = useUser();
  const list = useListState({ sort: NEWEST, filters: FILTERS });
  const range = useRange(list);
  const asked = { ...usageInput(list), ...range.bounds };
  const { data, table } = useList(api.usage.list, asked, list, REFETCH_MS);
  const columns = useUsageColumns();
  const mayOpen = useMay('INSTANCE_RENTED_MANAGEMENT');
  const exporting = useCsvExport(
    api.usage.export,
    { ...range.bounds, queryString: list.request.queryString },
    `usage-${workspace?.clientId}`,
  );
  const some = list.narrowed || (table.rows?.length ?? 1) > 0;
  return (
    <>
      <PageHeader
        title={t(ROUTES.usage.title)}
        actions={
          some && (
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
      >
        {t('Rented servers are charged for each second at their provider; every minute it is taken from the balance.')}
      </PageHeader>
      {some &&
        (data ? (
          <div className={classes.top}>
            <UsageTotals total={data.total} />
            <SpendChart days={data.days} />
          </div>
        ) : (
          table.error === null && (
            <div className={classes.top}>
              <PanelSkeleton rows={4} />
              <SpendChartSkeleton />
            </div>
          )
        ))}
      {some && (
        <ListBar>
          <SearchBox value={list.search} onChange={list.setSearch} placeholder={t('Search instances')} />
          <DateRangePicker label={t('When')} value={range.value} onChange={range.set} clearable />
        </ListBar>
      )}
      <DataTable
        {...table}
        label={t(ROUTES.usage.title)}
        name="usage"
        rowTestId="usage-row"
        columns={columns}
        rowKey={({ id }) => id}
        rowLink={mayOpen ? ({ instance }, cell) => <Link to={paths.instance(instance.id)}>{cell}</Link> : undefined}
        sort={list.sort}
        onSort={list.setSort}
        empty={
          list.narrowed ? (
            <NoMatches title={t('Nothing was used then')} onClear={list.clear}>
              {t('Try a longer stretch of time or other filters.')}
            </NoMatches>
          ) : (
            <EmptyState
              icon={<IconChartBar size={20} />}
              title={t('Nothing has been used yet')}
              action={
                opens(ROUTES.marketplace, permissions) && (
                  <Button component={Link} to={paths.marketplace()}>
                    {t('Rent a server')}
                  </Button>
                )
              }
            >
              {t('What your rented servers cost will be listed here, second by second.')}
            </EmptyState>
          )
        }
      />
    </>
  );
}
