import { Skeleton } from '@mantine/core';
import { CURRENCY } from '@stagi/contract/brand.ts';
import type { Offer } from '@stagi/contract/hardware.ts';
import { LOG_BUCKET_GB, PROVISIONING_MINUTES } from '@stagi/contract/instances.ts';
import { BalanceDuration, balanceEndsAt } from '../../balance/BalanceDuration.tsx';
import { forecast, pricePerDay, reserveFor } from '../../balance/forecast.ts';
import { useBalance } from '../../balance/useBalance.ts';
import { useT } from '../../i18n/i18n.ts';
import { FactList } from '../../ui/FactList.tsx';
import { formatAmount, formatDate } from '../../ui/format.ts';
import { Money } from '../../ui/Money.tsx';
import { Note } from '../../ui/Note.tsx';

/** The cost and the balance after it, before the server is rented. */
export function RentSummary({ offer }: { offer: Offer }) {
  const t = useT();
  const { data: balance, dataUpdatedAt: readAt, isError } = useBalance();
  const after = balance && forecast(balance, { price: offer.pricePerHour, canStop: offer.canStop });
  return (
    <>
      <FactList
        title={t('Summary')}
        facts={[
          { label: t('Price per hour'), value: <Money price={offer.pricePerHour} per="hour" /> },
          { label: t('About a day'), value: <Money price={pricePerDay(offer.pricePerHour)} /> },
          {
            label: t('While stopped'),
            value: offer.canStop ? (
              <Money price={offer.stoppedPricePerHour} per="hour" />
            ) : (
              t('This provider cannot stop servers')
            ),
          },
          {
            label: t('Balance lasts'),
            value: after ? (
              <span
                title={t('At {{amount}} {{currency}} an hour for all your servers', {
                  amount: formatAmount(after.burnPerHour),
                  currency: CURRENCY,
                })}
              >
                <BalanceDuration hours={after.hours} readAt={readAt} />
              </span>
            ) : isError ? null : (
              <Skeleton width={120} height={12} />
            ),
          },
          { label: t('Ready in'), value: t('about {{count}} minutes', { count: PROVISIONING_MINUTES }) },
          { label: t('Logs'), value: t('a free S3 bucket of up to {{gb}} GB', { gb: LOG_BUCKET_GB }) },
        ]}
      />
      {!offer.canStop && (
        <Note tone="warn" title={t('Its data is lost when the balance runs out')}>
          {t(
            'This provider cannot stop servers, so the server is terminated before the balance runs out, and its disk is lost. Back up what you need.',
          )}{' '}
          {t('{{amount}} {{currency}} of your balance are reserved for its last half hour.', {
            amount: formatAmount(reserveFor(offer.pricePerHour)),
            currency: CURRENCY,
          })}
        </Note>
      )}
      {after?.isCovered && after.hours !== null && after.hours < SHOWN_HOURS && (
        <Empties at={balanceEndsAt(readAt, after.hours)} />
      )}
      {after && !after.isCovered && (
        <Note tone="warn">
          {t(
            'Renting needs a balance of {{needed}} {{currency}}, for an hour of all your servers and this one. You have {{amount}} {{currency}}.',
            {
              needed: formatAmount(after.needed),
              amount: formatAmount(balance.clientBalance.STAGI.decimalValue),
              currency: CURRENCY,
            },
          )}
        </Note>
      )}
    </>
  );
}

/** A balance that lasts longer needs no note. */
const SHOWN_HOURS = 24 * 14;

function Empties({ at }: { at: Date }) {
  const t = useT();
  const weekday = new Intl.DateTimeFormat(document.documentElement.lang, { weekday: 'short' }).format(at);
  return (
    <Note tone="info">
      {t('This rental empties the balance on {{when}}', { when: `${weekday} ${formatDate(at)}` })}
    </Note>
  );
}
