import { CURRENCY } from '@stagi/contract/brand.ts';
import { calibration } from '@stagi/perf/checkedCalibration.ts';
import { costPerMillion, type Estimate, isEstimate, type Prediction, predict } from '@stagi/perf/predict.ts';
import { useMemo } from 'react';
import { type T, useT } from '../../../i18n/i18n.ts';
import { formatAmount, formatNumber } from '../../../ui/format.ts';
import { Heading } from '../../../ui/Heading.tsx';
import { BOUND_WORDS, NOT_PREDICTED_WORDS, WHY_NOT_WORDS } from '../fitWords.ts';
import type { ModelChoice } from '../modelChoice.ts';
import { chosenEngine, hasFormula } from '../setup.ts';
import classes from './Calculator.module.css';
import { priceRange, priceText, rateRange, rateText, secondsRange, secondsText } from './figures.ts';
import { cheapestOf, gpuName, hourlyPrice, type PricedOffer } from './gpuRows.ts';
import { LoadFields } from './LoadFields.tsx';
import metricClasses from './Metric.module.css';
import { Metric } from './Metric.tsx';
import type { Shown } from './remedies.ts';
import { Simulated } from './Simulated.tsx';

interface Props {
  shown: Shown;
  choice: ModelChoice;
  choose(changed: Partial<ModelChoice>): void;
  offers: readonly PricedOffer[];
}

/** How fast the model is predicted to be under a load, and what its tokens cost. */
export function SpeedPanel({ shown, choice, choose, offers }: Props) {
  const t = useT();
  const { gpu, count } = shown;
  const prediction = useMemo(() => predictShown(shown, choice), [shown, choice]);
  const offer = cheapestOf(offers, gpu.id, count);
  return (
    <section className={classes.panel} aria-labelledby="speed" data-testid="speed">
      <Heading level={2} as={3} id="speed">
        {t('Speed on {{gpus}} × {{gpu}}', { gpus: count, gpu: gpuName(gpu) })}
      </Heading>
      {hasFormula(shown.model) && (
        <LoadFields choice={choice} choose={choose} contextLength={shown.model.contextLength ?? null} />
      )}
      <div aria-live="polite">
        <Speed prediction={prediction} offer={offer} />
      </div>
      {choice.has8BitCache && [prediction.tpot, prediction.rate].some(isEstimate) && (
        <p className={metricClasses.limits}>
          {t('Predicted with the engine’s own KV cache: speed with one of 8 bit was not measured.')}
        </p>
      )}
    </section>
  );
}

function predictShown({ model, gpu, count, file }: Shown, choice: ModelChoice): Prediction {
  const { load, lengths } = choice;
  const engine = chosenEngine(file, gpu, choice);
  return predict({ model, gpu, count, precision: file.precision, engine, load, lengths }, calibration);
}

function Speed({ prediction, offer }: { prediction: Prediction; offer: PricedOffer | undefined }) {
  const t = useT();
  const { memory, ttft, tpot, rate } = prediction;
  // One reason for all three is said once.
  if (!isEstimate(tpot) && tpot === ttft && tpot === rate)
    return (
      <p className={classes.verdict} data-testid="not-predicted">
        {t(NOT_PREDICTED_WORDS[tpot])} {tpot === 'does not fit' && memory.reason && t(WHY_NOT_WORDS[memory.reason])}
      </p>
    );
  return (
    <>
      <dl className={metricClasses.metrics}>
        <Metric
          label={t('Time to the first token')}
          meaning={t('TTFT, with the wait for others')}
          of={ttft}
          text={secondsText}
          range={secondsRange}
          testId="ttft"
        />
        <Metric
          label={t('Time between tokens')}
          meaning={t('TPOT, the mean of the gaps (ITL)')}
          of={tpot}
          text={secondsText}
          range={secondsRange}
          testId="tpot"
        />
        <Metric
          label={t('Throughput')}
          meaning={t('tokens of answers, of all clients together')}
          of={rate}
          text={rateText}
          range={rateRange}
          testId="rate"
        />
        <Cost rate={rate} offer={offer} />
      </dl>
      <p className={metricClasses.limits}>{limitsText(t, prediction)}</p>
    </>
  );
}

/** What a million tokens cost on the cheapest offer of the GPU. */
function Cost({ rate, offer }: { rate: Prediction['rate']; offer: PricedOffer | undefined }) {
  const t = useT();
  const label = t('Price of a million tokens');
  if (!offer || !isEstimate(rate))
    return (
      <div className={metricClasses.metric} data-testid="cost">
        <dt>{label}</dt>
        <dd className={metricClasses.reason}>
          {offer
            ? t('Not predicted, as the throughput is not.')
            : t('No cloud of this installation offers so many of this GPU in one server now.')}
        </dd>
      </div>
    );
  return (
    <Metric
      label={label}
      meaning={t('tokens of answers, at the cheapest offer')}
      of={costOf(rate, hourlyPrice(offer))}
      text={priceText}
      range={priceRange}
      testId="cost"
    >
      <span className={metricClasses.basis}>
        {t('{{price}} for {{server}}', {
          price: `${formatAmount(offer.offer.pricePerHour.STAGI.decimalValue)} ${CURRENCY}/${t('h')}`,
          server: `${offer.count} × ${offer.offer.gpu?.name ?? ''}, ${t(offer.offer.providerTitle)}`,
        })}{' '}
        {offer.offer.simulated && <Simulated />}
      </span>
    </Metric>
  );
}

/** The more tokens a second, the less a token costs. */
const costOf = ({ value, low, high, error, n }: Estimate, perHour: number): Estimate => ({
  value: costPerMillion(perHour, value),
  low: costPerMillion(perHour, high),
  high: costPerMillion(perHour, low),
  error,
  n,
});

/** What bounds the figures that are shown, and whether clients wait. */
function limitsText(t: T, { ttft, tpot, rate, decode, prefill, load }: Prediction): string {
  const parts: string[] = [];
  if (decode && isEstimate(tpot))
    parts.push(t('Most of the time between tokens goes to {{work}}.', { work: t(BOUND_WORDS[decode.bound]) }));
  if (prefill && isEstimate(ttft))
    parts.push(t('Most of the work on a prompt is {{work}}.', { work: t(BOUND_WORDS[prefill.bound]) }));
  if (load?.saturated) parts.push(t('Memory does not hold all clients at once: some of them wait.'));
  else if (load && 'running' in load && isEstimate(rate))
    parts.push(t('On average {{sequences}} sequences run at once.', { sequences: formatNumber(load.running) }));
  return parts.join(' ');
}
