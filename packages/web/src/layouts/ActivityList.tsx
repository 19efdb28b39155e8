import type { api } from '@stagi/contract/api.ts';
import { IconHistory } from '@tabler/icons-react';
import { useT } from '../i18n/i18n.ts';
import { ActivityTable } from '../ui/ActivityTable.tsx';
import { DateRangePicker } from '../ui/dateRange/DateRangePicker.tsx';
import { EmptyState } from '../ui/EmptyState.tsx';
import { StatusFilter } from '../ui/FilterMenu.tsx';
import { ListBar } from '../ui/ListBar.tsx';
import { NoMatches } from '../ui/NoMatches.tsx';
import { SearchBox } from '../ui/SearchBox.tsx';
import { useList } from './useList.ts';
import { useListState } from './useListState.ts';
import { RANGE, useRange } from './useRange.ts';

interface Props {
  of: typeof api.instances.activities | typeof api.selfHosted.activities;
  id: number;
  /** The statuses that a server of this kind may come to. */
  statuses: readonly string[];
}

/** What happened to a server, newest first, narrowed by words, by time and by the status it led to. */
export function ActivityList({ of, id, statuses }: Props) {
  const t = useT();
  const list = useListState({ sort: { field: 'at', direction: 'desc' }, filters: [RANGE] });
  const range = useRange(list);
  const { table } = useList(of, { id, ...range.bounds, entityFilterRequest: list.request }, list);
  const some = list.narrowed || (table.rows?.length ?? 1) > 0;
  return (
    <>
      {some && (
        <ListBar>
          <SearchBox value={list.search} onChange={list.setSearch} placeholder={t('Search activities')} />
          <StatusFilter statuses={statuses} value={list.statuses} onChange={list.setStatuses} />
          <DateRangePicker label={t('When')} value={range.value} onChange={range.set} clearable />
        </ListBar>
      )}
      <ActivityTable
        {...table}
        sort={list.sort}
        onSort={list.setSort}
        empty={
          list.narrowed ? (
            <NoMatches title={t('Nothing like that has happened')} onClear={list.clear}>
              {t('Try a longer stretch of time or other words.')}
            </NoMatches>
          ) : (
            <EmptyState icon={<IconHistory size={20} />} title={t('Nothing has happened yet')}>
              {t('Every change of this server and who made it will be listed here.')}
            </EmptyState>
          )
        }
      />
    </>
  );
}
