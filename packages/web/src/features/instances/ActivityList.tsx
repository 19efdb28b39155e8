import type { api } from '@stagi/contract/api.ts';
import type { Activity } from '@stagi/contract/instances.ts';
import { IconHistory } from '@tabler/icons-react';
import { SERVER_ACTIVITIES } from '../../audit/activityWords.ts';
import { useT } from '../../i18n/i18n.ts';
import { personName } from '../../i18n/personName.ts';
import { ListTable } from '../../lists/ListTable.tsx';
import { useList } from '../../lists/useList.ts';
import { useListState } from '../../lists/useListState.ts';
import { RANGE_FILTER, useRange } from '../../lists/useRange.ts';
import { CutText } from '../../ui/CutText.tsx';
import { DateRangePicker } from '../../ui/dateRange/DateRangePicker.tsx';
import { STATUS } from '../../ui/status.ts';
import { DateTime } from '../../ui/Time.tsx';
import { StatusFilter } from '../../ui/table/StatusFilter.tsx';
import type { Column } from '../../ui/table/tableTypes.ts';
import classes from './ActivityList.module.css';

interface Props {
  of: typeof api.instances.activities | typeof api.selfHosted.activities;
  id: number;
  /** The statuses that a server of this kind may have. */
  statuses: readonly string[];
}

/** What happened to a server, newest first, narrowed by words, by time and by the status it led to. */
export function ActivityList({ of, id, statuses }: Props) {
  const t = useT();
  const state = useListState({ sort: { field: 'at', direction: 'desc' }, filters: [RANGE_FILTER] });
  const range = useRange(state);
  const list = useList(of, { id, ...range.bounds, entityFilterRequest: state.request }, state);
  return (
    <ListTable
      list={list}
      search={t('Search activities')}
      filters={
        <>
          <StatusFilter statuses={statuses} value={state.statuses} onChange={state.setStatuses} />
          <DateRangePicker label={t('When')} value={range.value} onChange={range.set} clearable />
        </>
      }
      label={t('Activities')}
      rowTestId="activity-row"
      columns={columns()}
      rowKey={(activity) => activity.id}
      noMatches={{
        title: t('No matching entries'),
        text: t('Try a longer time range or other words.'),
      }}
      empty={{
        icon: <IconHistory size={20} />,
        title: t('No activity yet'),
        text: t('Every change of this server and who made it will be listed here.'),
      }}
    />
  );

  function columns(): Column<Activity>[] {
    return [
      { key: 'what', title: t('What'), cell: what },
      {
        key: 'detail',
        title: t('Details'),
        cell: ({ detail }) => detail && <span className={classes.detail}>{t(detail)}</span>,
      },
      {
        key: 'who',
        title: t('Who'),
        cell: ({ actor }) =>
          actor === null ? (
            <span className="muted">{t('The platform')}</span>
          ) : (
            <CutText>{personName(t, actor)}</CutText>
          ),
      },
      {
        key: 'when',
        title: t('When'),
        sortBy: 'at',
        align: 'right',
        width: 190,
        cell: ({ at }) => <DateTime at={at} format="HH:mm DD.MM.YYYY" />,
      },
    ];
  }

  function what({ kind, from, to }: Activity) {
    if (kind !== 'status') return <span className={classes.kind}>{t(wordOf(kind))}</span>;
    const words = [from, to].filter((status) => status !== null).map((status) => t(STATUS[status]?.word ?? status));
    return t('Status changed: {{change}}', { change: words.join(' → ') });
  }
}

/** A kind without words is shown by its name. */
const wordOf = (kind: string): string => (SERVER_ACTIVITIES as Partial<Record<string, string>>)[kind] ?? kind;
