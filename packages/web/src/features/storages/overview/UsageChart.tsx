import { Skeleton } from '@mantine/core';
import { api } from '@stagi/contract/api.ts';
import type { Storage } from '@stagi/contract/storages.ts';
import { useQuery } from '@tanstack/react-query';
import { type KeyboardEvent, type PointerEvent, useState } from 'react';
import { errorText } from '../../../api/messages.ts';
import { q } from '../../../api/query.ts';
import { useT } from '../../../i18n/i18n.ts';
import { ChartTable } from '../../../ui/ChartTable.tsx';
import { ErrorState } from '../../../ui/ErrorState.tsx';
import { formatDate, formatDecimalBytes, formatNumber } from '../../../ui/format.ts';
import classes from './UsageChart.module.css';
import { nearestPoint, pointAfterKey } from './usagePoints.ts';

const WIDTH = 1000;
const HEIGHT = 96;

/** What the storage held over time, as an area, with the same figures as a table. */
export function UsageChart({ storage: { id } }: { storage: Storage }) {
  const t = useT();
  const { data, error, isFetching, refetch } = useQuery(q(api.storages.usage, { id }, { quiet: true }));
  if (error) return <ErrorState message={errorText(error)} onRetry={() => void refetch()} retrying={isFetching} />;
  if (!data) return <Skeleton height={188} />;
  const points = data.points.map((point) => ({ ...point, ms: new Date(point.at).getTime() }));
  const [first] = points;
  const last = points.at(-1);
  if (!first || !last) return null;
  const most = Math.max(...points.map(({ usedBytes }) => usedBytes));
  const title = t('Used over time');
  return (
    <figure className={classes.chart}>
      <figcaption className={classes.caption}>
        <span>{title}</span>
        <span className="muted">{t('most: {{size}}', { size: formatDecimalBytes(most) })}</span>
      </figcaption>
      <Plot points={points} most={most} label={title} />
      <div className={classes.ends}>
        <span>{formatDate(first.at)}</span>
        <span>{formatDate(last.at)}</span>
      </div>
      <ChartTable
        label={title}
        columns={[t('When'), t('Used'), t('Objects')]}
        rows={points.toReversed().map(({ at, usedBytes, objectCount }) => ({
          key: at,
          cells: [formatDate(at), formatDecimalBytes(usedBytes), formatNumber(objectCount, 0)],
        }))}
      />
    </figure>
  );
}

interface Point {
  at: string;
  ms: number;
  usedBytes: number;
  objectCount: number;
}

interface PlotProps {
  points: readonly Point[];
  most: number;
  label: string;
}

/** Tells time and value of the point nearest to the pointer; the arrow keys go from point to point. */
function Plot({ points, most, label }: PlotProps) {
  const t = useT();
  // By its time: a refetch moves the others.
  const [told, setTold] = useState<string | null>(null);
  const times = points.map(({ ms }) => ms);
  const [from, to] = [times[0] ?? 0, times.at(-1) ?? 0];
  const x = (ms: number) => (to === from ? WIDTH : ((ms - from) / (to - from)) * WIDTH);
  const y = (bytes: number) => HEIGHT - (most === 0 ? 0 : (bytes / most) * (HEIGHT - 4));
  const line = points.map(({ ms, usedBytes }) => `${x(ms)},${y(usedBytes)}`);
  // A single sample is a level, not a point.
  if (line.length === 1) line.unshift(`0,${y(points[0]?.usedBytes ?? 0)}`);

  const index = points.findIndex(({ at }) => at === told);
  const point = points[index];
  const spoken = point ?? points.at(-1);
  const words = ({ at, usedBytes, objectCount }: Point) =>
    `${formatDate(at)} · ${formatDecimalBytes(usedBytes)} · ${t('{{count}} objects', { count: objectCount })}`;

  function pointAt({ clientX, currentTarget }: PointerEvent<HTMLElement>): void {
    const { left, width } = currentTarget.getBoundingClientRect();
    setTold(points[nearestPoint(times, from + ((clientX - left) / width) * (to - from))]?.at ?? null);
  }
  function onKeyDown(event: KeyboardEvent<HTMLElement>): void {
    if (event.key === 'Escape') {
      setTold(null);
      return;
    }
    const next = pointAfterKey(event.key, index, points.length);
    if (next === null) return;
    event.preventDefault();
    setTold(points[next]?.at ?? null);
  }

  return (
    <div
      className={classes.plot}
      role="slider"
      tabIndex={0}
      aria-label={label}
      aria-valuemin={1}
      aria-valuemax={points.length}
      aria-valuenow={point ? index + 1 : points.length}
      aria-valuetext={spoken && words(spoken)}
      data-testid="storage-usage"
      onPointerMove={pointAt}
      onPointerDown={pointAt}
      onPointerLeave={() => setTold(null)}
      onFocus={() => setTold((before) => before ?? points.at(-1)?.at ?? null)}
      onBlur={() => setTold(null)}
      onKeyDown={onKeyDown}
    >
      <svg className={classes.area} viewBox={`0 0 ${WIDTH} ${HEIGHT}`} preserveAspectRatio="none" aria-hidden>
        <polygon points={`0,${HEIGHT} ${line.join(' ')} ${WIDTH},${HEIGHT}`} />
        <polyline points={line.join(' ')} />
      </svg>
      {point && (
        <>
          <span className={classes.cursor} style={{ left: `${x(point.ms) / 10}%` }} aria-hidden>
            <span className={classes.dot} style={{ top: y(point.usedBytes) }} />
          </span>
          <span
            className={classes.told}
            // Not over the point itself.
            data-below={y(point.usedBytes) < HEIGHT / 2 || undefined}
            style={{ left: `${x(point.ms) / 10}%`, translate: `-${x(point.ms) / 10}%` }}
            aria-hidden
            data-testid="storage-usage-told"
          >
            {words(point)}
          </span>
        </>
      )}
    </div>
  );
}
