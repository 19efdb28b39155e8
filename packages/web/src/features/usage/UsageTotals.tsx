import { CURRENCY } from '@stagi/contract/brand.ts';
import type { Money } from '@stagi/contract/price.ts';
import { useT } from '../../i18n/i18n.ts';
import { FactList } from '../../ui/FactList.tsx';
import { formatExact, formatHours } from '../../ui/format.ts';
import classes from './Usage.module.css';

interface Total {
  seconds: number;
  quoted: Money;
  charged: Money;
  uncollected: Money;
  refunded: Money;
}

/** Quoted against charged, over everything that the list shows. */
export function UsageTotals({ total }: { total: Total }) {
  const t = useT();
  const amount = (money: Money, testId?: string) => (
    <span className={classes.sum} data-testid={testId}>
      <span className="mono">{formatExact(money.decimalValue)}</span> {CURRENCY}
    </span>
  );
  const some = (label: string, money: Money) =>
    Number(money.decimalValue) === 0 ? [] : [{ label, value: amount(money) }];
  return (
    <FactList
      title={t('Total')}
      facts={[
        { label: t('Charged'), value: amount(total.charged, 'usage-charged') },
        { label: t('Quoted'), value: amount(total.quoted) },
        ...some(t('Uncollected at zero balance'), total.uncollected),
        ...some(t('Refunded'), total.refunded),
        {
          label: t('Running time of servers'),
          value: <span className="mono">{formatHours(total.seconds / 3600)}</span>,
        },
      ]}
    />
  );
}
