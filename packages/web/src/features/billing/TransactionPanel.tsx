import { api } from '@stagi/contract/api.ts';
import { CURRENCY } from '@stagi/contract/brand.ts';
import type { OutputOf } from '@stagi/contract/call.ts';
import type { ChargedSegment, Transaction } from '@stagi/contract/transactions.ts';
import { useHasPermission } from '../../api/user.ts';
import { useT } from '../../i18n/i18n.ts';
import { ResourceLink } from '../../lists/ResourceLink.tsx';
import { RowPanel } from '../../lists/RowPanel.tsx';
import { FactList } from '../../ui/FactList.tsx';
import { formatDay, formatExact, formatNumber } from '../../ui/format.ts';
import { DateTime } from '../../ui/Time.tsx';
import { Amount } from './Amount.tsx';
import classes from './Billing.module.css';
import { KIND_WORD, TYPE_WORD } from './transactionWords.ts';

interface Props {
  /** From the address; null: closed. */
  id: number | null;
  onClose(): void;
}

/** One transaction. Usage also lists the intervals that were charged. */
export function TransactionPanel({ id, onClose }: Props) {
  const t = useT();
  return (
    <RowPanel
      view={api.transactions.view}
      id={id}
      onClose={onClose}
      title={t('Transaction')}
      testId="transaction-panel"
      rows={6}
    >
      {(answer) => <Body {...answer} />}
    </RowPanel>
  );
}

function Body({ entity, segments }: OutputOf<typeof api.transactions.view>) {
  const t = useT();
  const mayOpen = useHasPermission('INSTANCE_RENTED_MANAGEMENT');
  return (
    <>
      <FactList facts={factsOf(entity)} />
      {segments.length > 0 && <Segments segments={segments} />}
    </>
  );

  function factsOf({ resource, addresses, ...one }: Transaction) {
    return [
      { label: t('Amount'), value: <Amount amount={one.amount} exact /> },
      { label: t('Type'), value: t(TYPE_WORD[one.type]) },
      {
        label: t('What'),
        value: t(KIND_WORD[one.kind] ?? one.kind),
      },
      ...(one.reason ? [{ label: t('Reason'), value: one.reason }] : []),
      ...(resource
        ? [
            {
              label: resource.kind === 'storage' ? t('Storage') : t('Server'),
              value: mayOpen ? <ResourceLink resource={resource}>{resource.title}</ResourceLink> : resource.title,
            },
          ]
        : []),
      { label: t('Date'), value: <DateTime at={one.createdAt} /> },
      ...(one.day === null ? [] : [{ label: t('Day (UTC)'), value: formatDay(one.day), mono: true }]),
      ...(addresses.from
        ? [{ label: t('From address'), value: addresses.from, mono: true, copy: addresses.from }]
        : []),
      ...(addresses.to ? [{ label: t('To address'), value: addresses.to, mono: true, copy: addresses.to }] : []),
      ...(one.network ? [{ label: t('Network'), value: one.network }] : []),
      { label: t('Number'), value: one.id, mono: true, copy: String(one.id) },
    ];
  }
}

function Segments({ segments }: { segments: readonly ChargedSegment[] }) {
  const t = useT();
  return (
    <div>
      <h3 className={classes.title}>{t('Charge details')}</h3>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls sideways where it does not fit */}
      <section className={classes.scroll} tabIndex={0} aria-label={t('Charge details')}>
        <table className={classes.segments} data-testid="charged-segments">
          <thead>
            <tr>
              <th scope="col">{t('Time')}</th>
              <th scope="col">{t('Seconds')}</th>
              <th scope="col">
                {CURRENCY}/{t('h')}
              </th>
              <th scope="col">{t('Amount')}</th>
            </tr>
          </thead>
          <tbody>
            {segments.map(({ id, from, to, seconds, pricePerHour, price, priceHours, amount }) => (
              <tr key={id}>
                <td>
                  <DateTime at={from} /> –
                  <br />
                  <DateTime at={to} />
                </td>
                <td className="mono">{formatNumber(seconds, 3)}</td>
                <td className="mono">
                  {formatExact(pricePerHour.decimalValue)}
                  {priceHours > 1 && (
                    <span className={classes.exact}>
                      {t('{{amount}} for {{hours}} h', {
                        amount: formatExact(price.decimalValue),
                        hours: formatNumber(priceHours),
                      })}
                    </span>
                  )}
                </td>
                <td className="mono">{formatExact(amount.decimalValue)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </section>
    </div>
  );
}
