import type { PromoCode } from '@stagi/contract/promoCodes.ts';
import { useT } from '../../i18n/i18n.ts';
import { CopyButton } from '../../ui/CopyButton.tsx';
import type { Column } from '../../ui/DataTable.tsx';
import { formatAmount } from '../../ui/format.ts';
import { StatusBadge } from '../../ui/StatusBadge.tsx';
import { DateTime } from '../../ui/Time.tsx';
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
        <span className={classes.person}>
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
      cell: ({ createdBy }) => createdBy?.name ?? <span className="muted">—</span>,
    },
    {
      key: 'expiresAt',
      title: t('Expires'),
      sortBy: 'expiresAt',
      align: 'right',
      width: 160,
      cell: ({ expiresAt }) => <DateTime at={expiresAt} />,
    },
    {
      key: 'createdAt',
      title: t('Created'),
      sortBy: 'createdAt',
      align: 'right',
      extra: true,
      width: 160,
      cell: ({ createdAt }) => <DateTime at={createdAt} />,
    },
  ];
}
