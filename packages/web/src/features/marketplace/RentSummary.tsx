import { Skeleton } from '@mantine/core';
import { CURRENCY } from '@stagi/contract/brand.ts';
import type { Offer } from '@stagi/contract/hardware.ts';
import { LOG_BUCKET_GB, PROVISIONING_MINUTES } from '@stagi/contract/instances.ts';
import { useT } from '../../i18n/i18n.ts';
import { useBalance } from '../../layouts/useBalance.ts';
import { useNow } from '../../ui/clock.ts';
import { FactList } from '../../ui/FactList.tsx';
import { formatAmount, formatDate, formatHours } from '../../ui/format.ts';
import { Money } from '../../ui/Money.tsx';
import { Note } from '../../ui/Note.tsx';
import { aDay, forecast } from './forecast.ts';

/** What it costs and what one gets, before the click. */
export function RentSummary({ offer }: { offer: Offer }) {
  const t = useT();
  const { data: balance } = useBalance();
  const after = balance && forecast(balance, offer.pricePerHour, offer.canStop);
  return (
    <>
      <FactList
        title={t('Summary')}
        facts={[
          { label: t('Price per hour'), value: <Money price={offer.pricePerHour} per="hour" /> },
          { label: t('About a day'), value: <Money price={aDay(offer.pricePerHour)} /> },
          {
            label: t('While stopped'),
            value: offer.canStop ? (
              <Money price={offer.stoppedPricePerHour} per="hour" />
            ) : (
              t('This provider cannot stop servers')
            ),
          },
          {
            label: t('Your balance lasts'),
            value: after ? (
              <Lasts hours={after.hours} burnPerHour={after.burnPerHour} />
            ) : (
              <Skeleton width={120} height={12} />
            ),
          },
          { label: t('Ready in'), value: t('about {{count}} minutes', { count: PROVISIONING_MINUTES }) },
          { label: t('Logs'), value: t('a free S3 bucket of up to {{gb}} GB', { gb: LOG_BUCKET_GB }) },
        ]}
      />
      {after?.coversAnHour && after.hours !== null && after.hours < SHOWN_HOURS && <Empties hours={after.hours} />}
      {after && !after.coversAnHour && (
        <Note tone="warn">
          {t('Your balance of {{amount}} {{currency}} covers less than an hour of all your servers and this one.', {
            amount: formatAmount(balance.clientBalance.STAGI.decimalValue),
            currency: CURRENCY,
          })}
        </Note>
      )}
    </>
  );
}

/** What lasts longer than this is for no note. */
const SHOWN_HOURS = 24 * 14;

function Empties({ hours }: { hours: number }) {
  const t = useT();
  const when = new Date(useNow() + hours * 3_600_000);
  const weekday = new Intl.DateTimeFormat(document.documentElement.lang, { weekday: 'short' }).format(when);
  return (
    <Note tone="info">
      {t('This rental empties the balance on {{when}}', { when: `${weekday} ${formatDate(when)}` })}
    </Note>
  );
}

function Lasts({ hours, burnPerHour }: { hours: number | null; burnPerHour: string }) {
  const t = useT();
  const now = useNow();
  if (hours === null) return t('for ever: nothing is spent');
  const until = new Date(now + hours * 3_600_000);
  return (
    <span
      title={t('At {{amount}} {{currency}} an hour for all your servers', {
        amount: formatAmount(burnPerHour),
        currency: CURRENCY,
      })}
    >
      <span className="mono">{formatHours(hours)}</span>
      {hours < 24 * 365 && (
        <>
          {' · '}
          {t('until')} <span className="mono">{formatDate(until)}</span>
        </>
      )}
    </span>
  );
}
