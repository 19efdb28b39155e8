import type { RankedOffer } from '@stagi/contract/models.ts';
import { IconCheck, IconMinus, IconX } from '@tabler/icons-react';
import type { T } from '../../../i18n/i18n.ts';
import { Money } from '../../../ui/Money.tsx';
import type { Column } from '../../../ui/table/tableTypes.ts';
import { NOT_PREDICTED_SHORT, NOT_PREDICTED_WORDS, WHY_NOT_SHORT, WHY_NOT_WORDS } from '../fitWords.ts';
import { priceText, rateRange, rateText, secondsRange, secondsText } from './figures.ts';
import { gpuName } from './gpuRows.ts';
import classes from './Offers.module.css';
import { Simulated } from './Simulated.tsx';

type Predicted = RankedOffer['prediction']['tpot'];

/** Without a formula for its speed, an offer has a price per hour and the model fits or does not. */
export function offerColumns(t: T, hasFormula: boolean): Column<RankedOffer>[] {
  return allColumns(t).filter(({ key }) => (hasFormula ? key !== 'fits' : !OF_SPEED.includes(key)));
}

const OF_SPEED = ['cost', 'tpot', 'ttft', 'rate', 'goal'];

function allColumns(t: T): Column<RankedOffer>[] {
  return [
    {
      key: 'gpu',
      title: t('GPU'),
      cell: ({ offer, gpu, used }) => (
        <span className={classes.lines}>
          <span>
            {offer.gpu?.count ?? used} × {gpuName(gpu)}
          </span>
          {used !== offer.gpu?.count && <span className={classes.below}>{t('the model uses {{used}}', { used })}</span>}
        </span>
      ),
    },
    {
      key: 'server',
      title: t('Cloud'),
      cell: ({ offer }) => (
        <span className={classes.lines}>
          <span>{t(offer.providerTitle)}</span>
          <span className={classes.below}>
            {offer.region} {offer.simulated && <Simulated />}
          </span>
        </span>
      ),
    },
    {
      key: 'price',
      title: t('Price per hour'),
      align: 'right',
      cell: ({ offer }) => <Money price={offer.pricePerHour} per="hour" stacked />,
    },
    {
      key: 'cost',
      title: t('A million tokens'),
      align: 'right',
      cell: ({ cost, prediction }) =>
        cost === null ? whyNot(t, prediction) : <strong>{priceText(t, Number(cost.decimalValue))}</strong>,
    },
    {
      key: 'tpot',
      title: t('Between tokens'),
      align: 'right',
      cell: ({ prediction }) => predicted(t, prediction.tpot, secondsText, secondsRange),
    },
    {
      key: 'ttft',
      title: t('First token'),
      align: 'right',
      cell: ({ prediction }) => predicted(t, prediction.ttft, secondsText, secondsRange),
    },
    {
      key: 'rate',
      title: t('Throughput'),
      align: 'right',
      cell: ({ prediction }) => predicted(t, prediction.rate, rateText, rateRange),
    },
    { key: 'goal', title: t('Goal'), card: 'foot', cell: (offer) => goalMark(t, offer) },
    { key: 'fits', title: t('Fits'), card: 'foot', cell: (offer) => fitMark(t, offer) },
  ];
}

function predicted(
  t: T,
  of: Predicted,
  text: (t: T, value: number) => string,
  range: (t: T, low: number, high: number) => string,
) {
  // The reason stands where the price would.
  if (of === 'does not fit') return '—';
  if (typeof of === 'string') return reason(t, of);
  return (
    <span className={classes.lines}>
      <span>{text(t, of.value)}</span>
      <span className={classes.below}>{range(t, of.low, of.high)}</span>
    </span>
  );
}

function reason(t: T, why: Exclude<Predicted, object>) {
  return (
    <span className="muted" title={t(NOT_PREDICTED_WORDS[why])}>
      {t(NOT_PREDICTED_SHORT[why])}
    </span>
  );
}

function whyNot(t: T, { memory, rate }: RankedOffer['prediction']) {
  if (memory.reason === null) return typeof rate === 'string' ? reason(t, rate) : '—';
  return (
    <span className="muted" title={t(WHY_NOT_WORDS[memory.reason])}>
      {t(WHY_NOT_SHORT[memory.reason])}
    </span>
  );
}

function goalMark(t: T, offer: RankedOffer) {
  const { prediction, meetsGoal } = offer;
  if (!prediction.memory.fits) return fitMark(t, offer);
  if (meetsGoal === null) return <Mark tone="none" word={t('Not known')} />;
  return meetsGoal ? <Mark tone="ok" word={t('Met')} /> : <Mark tone="bad" word={t('Missed')} />;
}

function fitMark(t: T, { prediction }: RankedOffer) {
  return prediction.memory.fits ? <Mark tone="ok" word={t('Fits')} /> : <Mark tone="bad" word={t('Does not fit')} />;
}

const ICONS = { ok: IconCheck, bad: IconX, none: IconMinus };

/** A sign and a word: colour alone says nothing. */
function Mark({ tone, word }: { tone: keyof typeof ICONS; word: string }) {
  const Icon = ICONS[tone];
  return (
    <span className={classes.goal} data-tone={tone}>
      <Icon size={14} aria-hidden="true" /> {word}
    </span>
  );
}
