import { type Estimate, isEstimate, type NotPredicted } from '@stagi/perf/predict.ts';
import type { ReactNode } from 'react';
import { type T, useT } from '../../../i18n/i18n.ts';
import { NOT_PREDICTED_WORDS } from '../fitWords.ts';
import classes from './Metric.module.css';

interface Props {
  label: string;
  /** What the label means. */
  meaning: string;
  of: Estimate | NotPredicted;
  text(t: T, value: number): string;
  range(t: T, low: number, high: number): string;
  /** What else is to be said of the value. */
  children?: ReactNode;
  testId: string;
}

/** A predicted value with its range and what the range rests on; or why there is none. */
export function Metric({ label, meaning, of, text, range, children, testId }: Props) {
  const t = useT();
  return (
    <div className={classes.metric} data-testid={testId}>
      <dt>
        {label}
        <span className={classes.meaning}>{meaning}</span>
      </dt>
      {isEstimate(of) ? (
        <dd>
          <span className={classes.value} data-testid={`${testId}-value`}>
            {text(t, of.value)}
          </span>
          <span className={classes.band}>{range(t, of.low, of.high)}</span>
          <Basis of={of} />
          {children}
        </dd>
      ) : (
        <Reason why={of} />
      )}
    </div>
  );
}

function Basis({ of: { n, error } }: { of: Estimate }) {
  const t = useT();
  return (
    <span className={classes.basis}>
      {t('from {{count}} measurements, four fifths of them within ±{{percent}} %', {
        count: n,
        percent: Math.round(error * 100),
      })}
    </span>
  );
}

function Reason({ why }: { why: NotPredicted }) {
  const t = useT();
  return <dd className={classes.reason}>{t(NOT_PREDICTED_WORDS[why])}</dd>;
}
