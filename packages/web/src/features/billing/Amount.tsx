import type { Money } from '@stagi/contract/price.ts';
import { formatAmount, formatExact } from '../../ui/format.ts';
import classes from './Billing.module.css';

/** A signed amount, so that colour is not the only hint. */
export function Amount({ amount: { currency, decimalValue }, exact = false }: { amount: Money; exact?: boolean }) {
  const format = exact ? formatExact : formatAmount;
  const isLess = decimalValue.startsWith('-');
  return (
    <span className={classes.amount} data-less={isLess || undefined}>
      {isLess ? '−' : '+'}
      {format(isLess ? decimalValue.slice(1) : decimalValue)} <span className={classes.unit}>{currency}</span>
    </span>
  );
}
