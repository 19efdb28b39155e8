import { SegmentedControl } from '@mantine/core';
import type { api } from '@stagi/contract/api.ts';
import type { Call } from '@stagi/contract/call.ts';
import type { Metrics } from '@stagi/contract/metrics.ts';
import { text } from '@stagi/contract/text.ts';
import { IconArrowBackUp } from '@tabler/icons-react';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useMemo, useState } from 'react';
import { useLocation, useNavigate } from 'react-router';
import { call } from '../api/client.ts';
import { errorText } from '../api/messages.ts';
import { useT } from '../i18n/i18n.ts';
import { useAddressParams } from '../navigation/useAddressParams.ts';
import { Button } from '../ui/Button.tsx';
import { ChartTable } from '../ui/ChartTable.tsx';
import { EmptyState } from '../ui/EmptyState.tsx';
import { ErrorState } from '../ui/ErrorState.tsx';
import { formatDate } from '../ui/format.ts';
import { Note } from '../ui/Note.tsx';
import { Chart } from './Chart.tsx';
import { chartsOf, summaryOf } from './charts.ts';
import { formatFigure } from './figures.ts';
import { logQueryAround } from './logMoment.ts';
import classes from './Metrics.module.css';
import { MetricsSkeleton } from './MetricsSkeleton.tsx';
import {
  boundsOf,
  draggedRange,
  isPreset,
  type MetricsRange,
  type Preset,
  RANGE,
  rangeAround,
  rangeFromText,
  rangeToText,
  refetchMs,
} from './metricsRange.ts';

const POINTS = 300;

const PRESET_WORDS: Record<Preset, { short: string; title: string }> = {
  '1h': { short: text('1h'), title: text('Last hour') },
  '6h': { short: text('6h'), title: text('Last 6 hours') },
  '24h': { short: text('24h'), title: text('Last 24 hours') },
  '7d': { short: text('7d'), title: text('Last 7 days') },
  '30d': { short: text('30d'), title: text('Last 30 days') },
  '90d': { short: text('90d'), title: text('Last 90 days') },
};

interface Props {
  of: typeof api.metrics.container | typeof api.metrics.rented | typeof api.metrics.selfHosted;
  id: number;
  /** The page of its log; left out where there is none. */
  logPath?: string;
  /** Why there may be no samples yet. */
  noSamples: string;
  /** What ran and has ended: then this time is shown first, instead of the last hour. */
  ended?: { startedAt: string; finishedAt: string };
}

/** What a server or a container used over time. The range stands in the address. */
export function MetricsView({ of, id, logPath, noSamples, ended }: Props) {
  const t = useT();
  const [params, changeParams] = useAddressParams();
  const chosen = params.get(RANGE);
  const range = chosen === null && ended ? rangeAround(ended.startedAt, ended.finishedAt) : rangeFromText(chosen);
  const { data, error, isFetching, isPlaceholderData, refetch } = useQuery<Metrics>({
    queryKey: [of.path, { id, range: rangeToText(range) }],
    // A range up to now is another one at each reading.
    queryFn: ({ signal }) => read(of, id, range, signal),
    refetchInterval: refetchMs(range),
    placeholderData: keepPreviousData,
  });

  const choose = (next: MetricsRange, zoomed: boolean) =>
    // A zoom is a step that one goes back from.
    changeParams((changed) => changed.set(RANGE, rangeToText(next)), {
      replace: !zoomed,
      state: zoomed ? ZOOMED : null,
    });

  return (
    <section className={classes.metrics} aria-label={t('Metrics')} aria-busy={isPlaceholderData}>
      <div className={classes.toolbar}>
        <SegmentedControl
          aria-label={t('Range')}
          value={'preset' in range ? range.preset : ''}
          onChange={(chosen) => isPreset(chosen) && choose({ preset: chosen }, false)}
          data={Object.entries(PRESET_WORDS).map(([value, { short, title }]) => ({
            value,
            label: <abbr title={t(title)}>{t(short)}</abbr>,
          }))}
        />
        {!('preset' in range) && <Zoomed range={range} onLeave={() => choose({ preset: '1h' }, false)} />}
      </div>
      {body()}
    </section>
  );

  function body() {
    if (error && (!data || isPlaceholderData))
      return <ErrorState message={errorText(error)} onRetry={() => void refetch()} retrying={isFetching} />;
    if (!data) return <MetricsSkeleton />;
    return (
      <>
        {error && (
          <Note tone="warn" title={t('These figures could not be refreshed')}>
            {errorText(error)}
          </Note>
        )}
        {!data.isMeasured && (
          <Note tone="warn">{t('The agent of this server is too old for this: install it again')}</Note>
        )}
        {data.lastAt === null ? (
          data.isMeasured && (
            <EmptyState
              title={
                ended ? t('No samples: it ended before the first') : t('No samples yet: the first comes within 30 s')
              }
            >
              {!ended && noSamples}
            </EmptyState>
          )
        ) : data.series.some(({ avg }) => avg.some((figure) => figure !== null)) ? (
          <Charts data={data} logPath={logPath} onZoom={(from, to) => choose(draggedRange(from, to), true)} />
        ) : (
          <EmptyState title={t('No samples in this period')}>
            {t('The newest is of {{time}}.', { time: formatDate(data.lastAt) })}
          </EmptyState>
        )}
      </>
    );
  }
}

const ZOOMED = { zoomed: true };

function read(of: Props['of'], id: number, range: MetricsRange, signal: AbortSignal): Promise<Metrics> {
  return call(
    of as Call,
    { id, points: POINTS, ...boundsOf(range, Date.now()) },
    { quiet: true, signal },
  ) as Promise<Metrics>;
}

/** The stretch that is shown, and the way back from it. */
function Zoomed({ range, onLeave }: { range: { from: number; to: number }; onLeave(): void }) {
  const t = useT();
  const navigate = useNavigate();
  const { state } = useLocation();
  const wasZoomed = typeof state === 'object' && state !== null && 'zoomed' in state;
  return (
    <>
      <span className={classes.stretch}>
        {formatDate(new Date(range.from))} – {formatDate(new Date(range.to))}
      </span>
      <Button
        color="gray"
        icon={<IconArrowBackUp size={16} />}
        onClick={() => (wasZoomed ? void navigate(-1) : onLeave())}
        data-testid="metrics-back"
      >
        {t('Zoom out')}
      </Button>
    </>
  );
}

interface ChartsProps {
  data: Metrics;
  logPath: string | undefined;
  onZoom(from: number, to: number): void;
}

/** All charts share one cursor. */
function Charts({ data, logPath, onZoom }: ChartsProps) {
  const t = useT();
  // Moments, not points: a refetch moves the points.
  const [pointed, setPointed] = useState<number | null>(null);
  const [held, setHeld] = useState<{ chart: string; time: number } | null>(null);
  const [from, to] = [data.from, data.to].map((time) => Date.parse(time) / 1000) as [number, number];
  const charts = useMemo(() => chartsOf(data.series), [data.series]);
  const { times, step } = data;
  const indexOf = (time: number | undefined | null) => {
    const index = typeof time === 'number' ? times.indexOf(time) : -1;
    return index < 0 ? null : index;
  };
  const heldIndex = indexOf(held?.time);
  const title = t('Lowest, average and highest figures of this period');
  return (
    <>
      <p className={classes.hint}>
        {logPath
          ? t('Click a chart to hold a moment and see its log, drag to zoom in.')
          : t('Click a chart to hold a moment, drag to zoom in.')}
      </p>
      <div className={classes.charts}>
        {charts.map((chart) => (
          <Chart
            key={chart.key}
            chart={chart}
            times={times}
            from={from}
            to={to}
            step={step}
            index={indexOf(pointed) ?? heldIndex}
            onIndex={(n) => setPointed(n === null ? null : (times[n] ?? null))}
            onZoom={onZoom}
            held={held?.chart === chart.key ? heldIndex : null}
            onHold={(n) => setHeld(n === null ? null : { chart: chart.key, time: times[n]! })}
            logAt={(n) =>
              logPath ? `${logPath}?${logQueryAround(times[n]! * 1000, (times[n]! + step) * 1000)}` : null
            }
          />
        ))}
      </div>
      <ChartTable
        label={title}
        columns={[t('Figure'), t('Lowest'), t('Average'), t('Highest')]}
        rows={charts.flatMap(({ key, title: name, gpu, lines }) =>
          lines.flatMap(({ name: line, label, series }) => {
            const summary = summaryOf(series);
            const words = t(name, { gpu: gpu ?? '' });
            return summary
              ? [
                  {
                    key: `${key}${line}`,
                    cells: [
                      lines.length > 1 ? `${words}: ${t(label)}` : words,
                      ...[summary.min, summary.avg, summary.max].map((figure) => formatFigure(figure, series.unit)),
                    ],
                  },
                ]
              : [];
          }),
        )}
      />
    </>
  );
}
