import type { LedgerRun } from '@stagi/contract/ledger.ts';
import { text } from '@stagi/contract/text.ts';
import { useT } from '../../i18n/i18n.ts';
import { formatNumber } from '../../ui/format.ts';
import { StatusBadge } from '../../ui/StatusBadge.tsx';
import { timeColumn } from '../../ui/table/columns.tsx';
import type { Column } from '../../ui/table/tableTypes.ts';

const CAUSE: Record<LedgerRun['cause'], string> = {
  cron: text('Daily schedule'),
  command: text('Command line'),
  operator: text('An operator'),
};

export function useLedgerColumns(): Column<LedgerRun>[] {
  const t = useT();
  return [
    { key: 'state', title: t('Result'), card: 'head', cell: ({ state }) => <StatusBadge status={state} /> },
    { key: 'cause', title: t('Requested by'), cell: ({ cause, askedBy }) => askedBy?.name ?? t(CAUSE[cause]) },
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
    { ...timeColumn('createdAt', t('Started at')), width: 160 },
  ];
}
