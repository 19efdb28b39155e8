import type { LedgerRun } from '@stagi/contract/ledger.ts';
import { useT } from '../../i18n/i18n.ts';
import { text } from '../../i18n/text.ts';
import type { Column } from '../../ui/DataTable.tsx';
import { formatNumber } from '../../ui/format.ts';
import { StatusBadge } from '../../ui/StatusBadge.tsx';
import { DateTime } from '../../ui/Time.tsx';

const CAUSE: Record<LedgerRun['cause'], string> = {
  cron: text('Once a day'),
  command: text('Command line'),
  operator: text('An operator'),
};

export function useLedgerColumns(): Column<LedgerRun>[] {
  const t = useT();
  return [
    { key: 'state', title: t('Result'), card: 'head', cell: ({ state }) => <StatusBadge status={state} /> },
    { key: 'cause', title: t('Asked by'), cell: ({ cause, askedBy }) => askedBy?.name ?? t(CAUSE[cause]) },
    {
      key: 'journals',
      title: t('Journals'),
      align: 'right',
      cell: ({ journals, journalsToDo, state }) => (
        <span className="mono">
          {state === 'running'
            ? t('{{used}} of {{all}}', { used: formatNumber(journals), all: formatNumber(journalsToDo) })
            : formatNumber(journals)}
        </span>
      ),
    },
    {
      key: 'problems',
      title: t('Problems'),
      align: 'right',
      cell: ({ counts, endedAt }) => <span className="mono">{endedAt ? formatNumber(counts.problems ?? 0) : '—'}</span>,
    },
    {
      key: 'createdAt',
      title: t('Begun'),
      sortBy: 'createdAt',
      align: 'right',
      width: 160,
      cell: ({ createdAt }) => <DateTime at={createdAt} />,
    },
  ];
}
