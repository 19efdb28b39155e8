import { Skeleton } from '@mantine/core';
import { CURRENCY } from '@stagi/contract/brand.ts';
import { useUser } from '../../api/user.ts';
import { useT } from '../../i18n/i18n.ts';
import { useBalance } from '../../layouts/useBalance.ts';
import { useNow } from '../../ui/clock.ts';
import { FactList } from '../../ui/FactList.tsx';
import { formatAmount, formatDate, formatHours } from '../../ui/format.ts';

/** What is there, what is spent, and until when that goes well. */
export function BalanceFacts() {
  const t = useT();
  const { workspace } = useUser();
  const { data } = useBalance();
  const wait = <Skeleton width={120} height={12} />;
  return (
    <FactList
      title={t('Balance')}
      facts={[
        {
          label: t('Available'),
          value: data ? (
            <span data-testid="available">
              <span className="mono">{formatAmount(data.clientBalance.STAGI.decimalValue)}</span> {CURRENCY}
              <span className="muted"> · ${formatAmount(data.clientBalance.USD.decimalValue)}</span>
            </span>
          ) : (
            wait
          ),
        },
        {
          label: t('Spent an hour now'),
          value: data ? (
            <span>
              <span className="mono">{formatAmount(data.burnPerHour)}</span> {CURRENCY}
            </span>
          ) : (
            wait
          ),
        },
        { label: t('Your balance lasts'), value: data ? <Lasts days={data.daysLeft} /> : wait },
        { label: t('Plan'), value: workspace && t(workspace.subscriptionPlan) },
      ]}
    />
  );
}

const YEAR_DAYS = 365;

function Lasts({ days }: { days: number | null }) {
  const t = useT();
  const now = useNow();
  if (days === null) return t('for ever: nothing is spent');
  return (
    <span>
      <span className="mono">{formatHours(days * 24)}</span>
      {days > 0 && days < YEAR_DAYS && (
        <>
          {' · '}
          {t('until')} <span className="mono">{formatDate(new Date(now + days * 86_400_000))}</span>
        </>
      )}
    </span>
  );
}
