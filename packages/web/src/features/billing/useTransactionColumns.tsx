import type { Transaction } from '@stagi/contract/transactions.ts';
import { useT } from '../../i18n/i18n.ts';
import { CutText } from '../../ui/CutText.tsx';
import { Tag } from '../../ui/Tag.tsx';
import { DateTime } from '../../ui/Time.tsx';
import type { Column } from '../../ui/table/tableTypes.ts';
import { Amount } from './Amount.tsx';
import classes from './Billing.module.css';
import { KIND_WORD, TYPE_WORD } from './transactionWords.ts';

export function useTransactionColumns(): Column<Transaction>[] {
  const t = useT();
  return [
    { key: 'what', title: t('What'), card: 'head', cell: (transaction) => <What transaction={transaction} /> },
    { key: 'type', title: t('Type'), width: 130, cell: ({ type }) => <Tag>{t(TYPE_WORD[type])}</Tag> },
    { key: 'addresses', title: t('Addresses'), cell: ({ addresses }) => <Addresses addresses={addresses} /> },
    { key: 'network', title: t('Network'), cell: ({ network }) => network ?? <span className="muted">—</span> },
    {
      key: 'number',
      title: t('Number'),
      extra: true,
      align: 'right',
      cell: ({ id }) => <span className="mono">{id}</span>,
    },
    { key: 'amount', title: t('Amount'), align: 'right', cell: ({ amount }) => <Amount amount={amount} /> },
    {
      key: 'date',
      title: t('Date'),
      sortBy: 'createdAt',
      align: 'right',
      width: 160,
      cell: ({ createdAt }) => <DateTime at={createdAt} />,
    },
  ];
}

function What({ transaction: { resource, kind, reason } }: { transaction: Transaction }) {
  const t = useT();
  if (reason)
    return (
      <span className={classes.what}>
        <span>{t(KIND_WORD[kind] ?? kind)}</span>
        <CutText className="muted">{reason}</CutText>
      </span>
    );
  if (!resource) return <span>{t(KIND_WORD[kind] ?? kind)}</span>;
  return (
    <span className={classes.what}>
      <CutText>{kind === 'usage' ? resource.title : `${t(KIND_WORD[kind] ?? kind)} · ${resource.title}`}</CutText>
      <span className={`mono ${classes.slug}`}>{resource.slug}</span>
    </span>
  );
}

function Addresses({ addresses: { from, to } }: Pick<Transaction, 'addresses'>) {
  const t = useT();
  if (!from && !to) return <span className="muted">—</span>;
  return (
    <span className={classes.addresses}>
      {from && (
        <span>
          <span className="muted">{t('From address')}</span> <span className="mono">{from}</span>
        </span>
      )}
      {to && (
        <span>
          <span className="muted">{t('To address')}</span> <span className="mono">{to}</span>
        </span>
      )}
    </span>
  );
}
