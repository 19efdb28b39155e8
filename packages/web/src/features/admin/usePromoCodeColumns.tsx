import type { PromoCode } from '@stagi/contract/promoCodes.ts';
import { useT } from '../../i18n/i18n.ts';
import { CopyButton } from '../../ui/CopyButton.tsx';
import { CutText } from '../../ui/CutText.tsx';
import { formatAmount } from '../../ui/format.ts';
import { StatusBadge } from '../../ui/StatusBadge.tsx';
import { timeColumn } from '../../ui/table/columns.tsx';
import type { Column } from '../../ui/table/tableTypes.ts';
import classes from './Admin.module.css';

export function usePromoCodeColumns(): Column<PromoCode>[] {
  const t = useT();
  return [
    {
      key: 'code',
      title: t('Code'),
      sortBy: 'code',
      card: 'head',
      cell: ({ code }) => (
        <span className={classes.inline}>
          <span className="mono">{code}</span>
          <CopyButton value={code} />
        </span>
      ),
    },
    { key: 'status', title: t('Status'), cell: ({ status }) => <StatusBadge status={status} /> },
    {
      key: 'amount',
      title: t('Amount'),
      sortBy: 'amount',
      align: 'right',
      cell: ({ amount }) => (
        <span>
          <span className="mono">{formatAmount(amount.decimalValue)}</span>{' '}
          <span className="muted">{amount.currency}</span>
        </span>
      ),
    },
    {
      key: 'uses',
      title: t('Used'),
      sortBy: 'uses',
      align: 'right',
      cell: ({ uses, usesMax }) => (
        <span className="mono">{t('{{used}} of {{all}}', { used: uses, all: usesMax })}</span>
      ),
    },
    { key: 'note', title: t('Note'), cell: ({ note }) => note || <span className="muted">—</span> },
    {
      key: 'createdBy',
      title: t('Created by'),
      extra: true,
      cell: ({ createdBy }) => (createdBy && <CutText>{createdBy.name}</CutText>) ?? <span className="muted">—</span>,
    },
    { ...timeColumn('expiresAt', t('Expires')), width: 160 },
    { ...timeColumn('createdAt', t('Created')), extra: true, width: 160 },
  ];
}
