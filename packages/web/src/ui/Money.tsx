import { CURRENCY } from '@stagi/contract/brand.ts';
import type { Price } from '@stagi/contract/price.ts';
import { text } from '@stagi/contract/text.ts';
import { useT } from '../i18n/i18n.ts';
import { formatAmount } from './format.ts';
import classes from './Money.module.css';

interface Props {
  price: Price;
  per?: 'hour' | 'month';
  /** STAGI over USD in two lines, for right-aligned table cells. */
  stacked?: boolean;
}

const PER = { hour: text('h'), month: text('mo.') };

/** An amount with its unit, and the same in dollars. */
export function Money({ price, per, stacked = false }: Props) {
  const t = useT();
  return (
    <span className={classes.money} data-stacked={stacked || undefined}>
      <span>
        {formatAmount(price.STAGI.decimalValue)}{' '}
        <span className={classes.unit}>{per ? `${CURRENCY}/${t(PER[per])}` : CURRENCY}</span>
      </span>
      <span className={classes.usd}>${formatAmount(price.USD.decimalValue)}</span>
    </span>
  );
}
