import { Skeleton } from '@mantine/core';
import { CURRENCY } from '@stagi/contract/brand.ts';
import type { Money } from '@stagi/contract/price.ts';
import { useT } from '../../i18n/i18n.ts';
import { ChartTable } from '../../ui/ChartTable.tsx';
import { formatAmount } from '../../ui/format.ts';
import { spendByDay } from './days.ts';
import classes from './Usage.module.css';

interface Props {
  days: readonly { day: string; charged: Money }[];
}

const HEIGHT = 96;
const STEP = 10;
/** With few days, the bars are no wider than their date. */
const WIDEST_PX = 96;

/** The cost of each day as bars, with the same figures as a table. */
export function SpendChart({ days }: Props) {
  const t = useT();
  const bars = spendByDay(days);
  if (bars.length === 0) return null;
  const most = Math.max(...bars.map(({ value }) => value));
  const title = t('Spent per day (UTC), in {{currency}}', { currency: CURRENCY });
  return (
    <figure className={classes.chart}>
      <figcaption className={classes.caption}>
        <span>{title}</span>
        <span className="muted">{t('highest day: {{amount}}', { amount: formatAmount(String(most.toFixed(6))) })}</span>
      </figcaption>
      <div className={classes.time} style={{ maxWidth: bars.length * WIDEST_PX }}>
        <svg
          className={classes.bars}
          viewBox={`0 0 ${bars.length * STEP} ${HEIGHT}`}
          preserveAspectRatio="none"
          role="img"
          aria-label={title}
          data-testid="spend-chart"
        >
          {bars.map(({ day, value, label }, n) => {
            const height = most > 0 ? Math.max(value > 0 ? 2 : 0, (value / most) * HEIGHT) : 0;
            return (
              <g key={day}>
                <title>{`${label} · ${formatAmount(value.toFixed(6))} ${CURRENCY}`}</title>
                <rect className={classes.slot} x={n * STEP} y={0} width={STEP} height={HEIGHT} />
                <rect className={classes.bar} x={n * STEP + 1.5} y={HEIGHT - height} width={STEP - 3} height={height} />
              </g>
            );
          })}
        </svg>
        <div className={classes.ends}>
          <span>{bars[0]?.label}</span>
          {bars.length > 1 && <span>{bars.at(-1)?.label}</span>}
        </div>
      </div>
      <ChartTable
        label={title}
        columns={[t('Day'), CURRENCY]}
        rows={bars
          .toReversed()
          .map(({ day, label, value }) => ({ key: day, cells: [label, formatAmount(value.toFixed(6))] }))}
      />
    </figure>
  );
}

/** As high as the chart, while it loads. */
export const SpendChartSkeleton = () => (
  <div className={classes.chart} aria-busy="true">
    <Skeleton height={12} width="40%" mt={4} mb={16} />
    <Skeleton height={132} />
  </div>
);
