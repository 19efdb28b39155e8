import { Skeleton } from '@mantine/core';
import { api } from '@stagi/contract/api.ts';
import type { Storage } from '@stagi/contract/storages.ts';
import { useQuery } from '@tanstack/react-query';
import { errorText } from '../../../api/messages.ts';
import { q } from '../../../api/query.ts';
import { useT } from '../../../i18n/i18n.ts';
import { ErrorState } from '../../../ui/ErrorState.tsx';
import { formatDate, formatDecimalBytes } from '../../../ui/format.ts';
import classes from './UsageChart.module.css';

const WIDTH = 1000;
const HEIGHT = 96;

/** What the storage held over time, as an area. */
export function UsageChart({ storage: { id } }: { storage: Storage }) {
  const t = useT();
  const { data, error, isFetching, refetch } = useQuery(q(api.storages.usage, { id }, { quiet: true }));
  if (error) return <ErrorState message={errorText(error)} onRetry={() => void refetch()} retrying={isFetching} />;
  if (!data) return <Skeleton height={160} />;
  const points = data.points.map(({ at, usedBytes }) => ({ at, ms: new Date(at).getTime(), usedBytes }));
  const [first] = points;
  const last = points.at(-1);
  if (!first || !last) return null;
  const most = Math.max(...points.map(({ usedBytes }) => usedBytes));
  const x = (ms: number) => (last.ms === first.ms ? 0 : ((ms - first.ms) / (last.ms - first.ms)) * WIDTH);
  const y = (bytes: number) => HEIGHT - (most === 0 ? 0 : (bytes / most) * (HEIGHT - 4));
  const line = [...points.map(({ ms, usedBytes }) => `${x(ms)},${y(usedBytes)}`), `${WIDTH},${y(last.usedBytes)}`];
  return (
    <figure className={classes.chart}>
      <figcaption className={classes.caption}>
        <span>{t('Used over time')}</span>
        <span className="muted">{t('most: {{size}}', { size: formatDecimalBytes(most) })}</span>
      </figcaption>
      <svg
        className={classes.area}
        viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
        preserveAspectRatio="none"
        role="img"
        aria-label={t('Used over time')}
        data-testid="storage-usage"
      >
        <polygon points={`0,${HEIGHT} ${line.join(' ')} ${WIDTH},${HEIGHT}`} />
        <polyline points={line.join(' ')} />
      </svg>
      <div className={classes.ends}>
        <span>{formatDate(first.at)}</span>
        <span>{formatDate(last.at)}</span>
      </div>
    </figure>
  );
}
