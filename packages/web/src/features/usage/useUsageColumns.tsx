import { CURRENCY } from '@stagi/contract/brand.ts';
import type { Money } from '@stagi/contract/price.ts';
import { text } from '@stagi/contract/text.ts';
import type { UsageInterval } from '@stagi/contract/usage.ts';
import { useT } from '../../i18n/i18n.ts';
import { formatExact, formatNumber } from '../../ui/format.ts';
import { Tag } from '../../ui/Tag.tsx';
import { DateTime } from '../../ui/Time.tsx';
import { NameCell } from '../../ui/table/NameCell.tsx';
import type { Column } from '../../ui/table/tableTypes.ts';
import classes from './Usage.module.css';

const RATE_WORD: Record<UsageInterval['rate'], string> = {
  running: text('Running'),
  stopped: text('Stopped'),
  size: text('Storage size'),
};

export function useUsageColumns(): Column<UsageInterval>[] {
  const t = useT();
  return [
    {
      key: 'resource',
      title: t('Name'),
      sortBy: 'title',
      card: 'head',
      cell: ({ resource }) => <NameCell title={resource.title} slug={resource.slug} />,
    },
    {
      key: 'state',
      title: t('State'),
      width: 130,
      cell: ({ rate }) => <Tag>{t(RATE_WORD[rate])}</Tag>,
    },
    { key: 'from', title: t('From'), sortBy: 'from', width: 150, cell: ({ from }) => <DateTime at={from} /> },
    {
      key: 'to',
      title: t('To'),
      width: 150,
      cell: ({ to, open }) =>
        open || to === null ? <span className="muted">{t('ongoing')}</span> : <DateTime at={to} />,
    },
    {
      key: 'seconds',
      title: t('Seconds'),
      sortBy: 'seconds',
      align: 'right',
      cell: ({ seconds }) => <span className="mono">{formatNumber(Math.floor(seconds))}</span>,
    },
    {
      key: 'price',
      title: `${CURRENCY}/${t('h')}`,
      sortBy: 'pricePerHour',
      align: 'right',
      cell: (interval) => <Price of={interval} />,
    },
    {
      key: 'quoted',
      title: t('Quoted'),
      sortBy: 'quoted',
      align: 'right',
      cell: ({ quoted }) => <Figure of={quoted} />,
    },
    {
      key: 'charged',
      title: t('Charged'),
      sortBy: 'charged',
      align: 'right',
      cell: (interval) => <Charged interval={interval} />,
    },
  ];
}

/** A rate of storage is rounded up; its exact price is that of a month. */
function Price({ of: { pricePerHour, price, priceHours } }: { of: UsageInterval }) {
  const t = useT();
  if (priceHours === 1) return <Figure of={pricePerHour} />;
  return (
    <span className={classes.charged}>
      <Figure of={pricePerHour} />
      <span className={classes.why}>
        {t('{{amount}} for {{hours}} h', { amount: formatExact(price.decimalValue), hours: formatNumber(priceHours) })}
      </span>
    </span>
  );
}

function Figure({ of }: { of: Money }) {
  return <span className="mono">{formatExact(of.decimalValue)}</span>;
}

const isSome = ({ decimalValue }: Money): boolean => Number(decimalValue) !== 0;

/** The charged amount, with the reason where it differs from the quoted one. */
function Charged({ interval: { charged, uncollected, refunded } }: { interval: UsageInterval }) {
  const t = useT();
  return (
    <span className={classes.charged} data-testid="charged">
      <Figure of={charged} />
      {isSome(uncollected) && (
        <span className={classes.why}>
          {t('{{amount}} uncollected', { amount: formatExact(uncollected.decimalValue) })}
        </span>
      )}
      {isSome(refunded) && (
        <span className={classes.why}>{t('{{amount}} refunded', { amount: formatExact(refunded.decimalValue) })}</span>
      )}
    </span>
  );
}
