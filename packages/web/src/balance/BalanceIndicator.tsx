import { Skeleton } from '@mantine/core';
import { CURRENCY } from '@stagi/contract/brand.ts';
import { ROUTES } from '@stagi/contract/routes.ts';
import type { ReactNode } from 'react';
import { Link } from 'react-router';
import type { CurrentUser } from '../api/user.ts';
import { useT } from '../i18n/i18n.ts';
import { formatAmount } from '../ui/format.ts';
import { Tooltip } from '../ui/Tooltip.tsx';
import classes from './BalanceIndicator.module.css';
import { daysLeft } from './daysLeft.ts';
import { useBalance } from './useBalance.ts';

/** What the workspace has, and how long it lasts when that is not long; for who sees to the money the way to its page. */
export function BalanceIndicator({ user }: { user: CurrentUser }) {
  const t = useT();
  const { data, isError } = useBalance();
  if (!data) return isError ? null : <Skeleton width={96} height={20} />;

  const { STAGI, USD } = data.clientBalance;
  const left = daysLeft(data.daysLeft, USD.decimalValue);
  const amount = `${formatAmount(STAGI.decimalValue)} ${CURRENCY}`;
  const shown: ReactNode = (
    <>
      {formatAmount(STAGI.decimalValue)} <span className={classes.unit}>{CURRENCY}</span>
    </>
  );
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
      <Tooltip label={`$${formatAmount(USD.decimalValue)}`}>
        {user.permissions.includes('BILLING') ? (
          <Link
            className={classes.amount}
            to={ROUTES.balance.path}
            aria-label={`${t('Balance')}: ${amount}`}
            data-testid="balance"
          >
            {shown}
          </Link>
        ) : (
          // biome-ignore lint/a11y/noNoninteractiveTabindex: the amount in dollars must be readable by keyboard
          <span className={classes.amount} tabIndex={0} data-testid="balance">
            {shown}
          </span>
        )}
      </Tooltip>
    </span>
  );
}
