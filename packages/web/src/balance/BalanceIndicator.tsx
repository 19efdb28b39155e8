import { Skeleton } from '@mantine/core';
import { CURRENCY } from '@stagi/contract/brand.ts';
import { ROUTES } from '@stagi/contract/routes.ts';
import { Link } from 'react-router';
import { useT } from '../i18n/i18n.ts';
import { formatAmountFloor, formatExact } from '../ui/format.ts';
import { Tooltip } from '../ui/Tooltip.tsx';
import classes from './BalanceIndicator.module.css';
import { daysLeft } from './daysLeft.ts';
import { useBalance } from './useBalance.ts';

/** What the workspace has, and how long it lasts when that is not long, with the way to its page. */
export function BalanceIndicator() {
  const t = useT();
  const { data, isError } = useBalance();
  if (!data) return isError ? null : <Skeleton width={96} height={20} />;

  const { STAGI, USD } = data.clientBalance;
  const left = daysLeft(data.daysLeft, USD.decimalValue);
  const exact = `${formatExact(STAGI.decimalValue)} ${CURRENCY}`;
  const shown = formatAmountFloor(STAGI.decimalValue);
  return (
    <span className={classes.balance}>
      {left && (
        <Tooltip label={t('Time remaining before the balance runs out at the current usage rate')}>
          {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what it means must be readable by keyboard */}
          <span className={classes.left} data-none={left.is === 'none' || undefined} tabIndex={0}>
            {left.is === 'days'
              ? t('{{count}} days left', { count: left.count })
              : left.is === 'under a day'
                ? t('< 1 day left')
                : t('0 days left')}
          </span>
        </Tooltip>
      )}
      <Tooltip label={`${exact} · $${formatExact(USD.decimalValue)}`}>
        <Link
          className={classes.amount}
          to={ROUTES.balance.path}
          aria-label={`${t('Balance')}: ${shown} ${CURRENCY}`}
          data-testid="balance"
        >
          {shown} <span className={classes.unit}>{CURRENCY}</span>
        </Link>
      </Tooltip>
    </span>
  );
}
