import { Skeleton } from '@mantine/core';
import type { Balance, StarterRefusal } from '@stagi/contract/billing.ts';
import { CURRENCY } from '@stagi/contract/brand.ts';
import { text } from '@stagi/contract/text.ts';
import type { ReactNode } from 'react';
import { errorText } from '../../api/messages.ts';
import { useUser } from '../../api/user.ts';
import { BalanceDuration } from '../../balance/BalanceDuration.tsx';
import { forecast } from '../../balance/forecast.ts';
import { useBalance } from '../../balance/useBalance.ts';
import { useT } from '../../i18n/i18n.ts';
import { PLAN_WORDS } from '../../i18n/planWords.ts';
import { ErrorState } from '../../ui/ErrorState.tsx';
import { FactList } from '../../ui/FactList.tsx';
import { formatAmount, formatDate } from '../../ui/format.ts';
import classes from './Billing.module.css';

const NO_STARTER: Record<StarterRefusal, string> = {
  mailbox: text('You get none: the mailbox of your account has had it already. You can use everything else.'),
  network: text('You get none: too many new accounts came from your network today. You can use everything else.'),
};

/** The balance, the current spending, and how long the balance lasts. */
export function BalanceFacts() {
  const t = useT();
  const { workspace } = useUser();
  const { data, dataUpdatedAt, error, refetch } = useBalance();
  if (!data && error) return <ErrorState message={errorText(error)} onRetry={() => void refetch()} />;

  const once = (value: (balance: Balance) => ReactNode) => (data ? value(data) : <Skeleton width={120} height={12} />);
  return (
    <FactList
      title={t('Balance')}
      facts={[
        {
          label: t('Available balance'),
          value: once(({ clientBalance: { STAGI, USD } }) => (
            <span data-testid="available">
              <Stagi amount={STAGI.decimalValue} />
              <span className="muted"> · ${formatAmount(USD.decimalValue)}</span>
            </span>
          )),
        },
        {
          label: t('Current rate per hour'),
          value: once(({ burnPerHour }) => <Stagi amount={burnPerHour} />),
        },
        {
          label: t('Balance lasts'),
          value: once((balance) =>
            balance.exhausted ? (
              t('Exhausted')
            ) : (
              <BalanceDuration hours={forecast(balance).hours} readAt={dataUpdatedAt} />
            ),
          ),
        },
        ...(data?.starterRefused && Number(data.clientBalance.STAGI.decimalValue) === 0
          ? [{ label: t('Starter credit'), value: t(NO_STARTER[data.starterRefused]) }]
          : []),
        ...(data && Number(data.reserve) > 0
          ? [{ label: t('Reserved'), value: <Reserve amount={data.reserve} /> }]
          : []),
        ...(data?.zero && !data.zero.credited
          ? [{ label: t('Kept until'), value: formatDate(data.zero.keptUntil), mono: true }]
          : []),
        { label: t('Plan'), value: workspace && t(PLAN_WORDS[workspace.subscriptionPlan]) },
      ]}
    />
  );
}

function Stagi({ amount }: { amount: string }) {
  return (
    <span className={classes.sum}>
      <span className="mono">{formatAmount(amount)}</span> {CURRENCY}
    </span>
  );
}

function Reserve({ amount }: { amount: string }) {
  const t = useT();
  return (
    <span>
      <Stagi amount={amount} /> <span className="muted">· {t('for servers that cannot be stopped')}</span>
    </span>
  );
}
