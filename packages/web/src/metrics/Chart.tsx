import { Anchor } from '@mantine/core';
import { Link } from 'react-router';
import { useT } from '../i18n/i18n.ts';
import { exactTime } from '../ui/format.ts';
import type { ChartSpec, Line } from './charts.ts';
import { formatFigure } from './figures.ts';
import classes from './Metrics.module.css';
import { Plot, type PlotProps } from './Plot.tsx';

interface Props extends Pick<PlotProps, 'chart' | 'times' | 'from' | 'to' | 'step' | 'index' | 'onIndex' | 'onZoom'> {
  /** The point that was clicked in this chart. */
  held: number | null;
  onHold(index: number | null): void;
  /** The address of the log at a point; null where there is no log. */
  logAt(index: number): string | null;
}

/** A chart with its title, and the figures at the cursor, else the newest. */
export function Chart({ chart, times, from, to, step, index, onIndex, onZoom, held, onHold, logAt }: Props) {
  const t = useT();
  const at = index ?? held;
  const title = t(chart.title, { gpu: chart.gpu ?? '' });
  const shown = at ?? lastMeasured(chart);
  const time = shown === null ? undefined : times[shown];
  const log = held === null ? null : logAt(held);
  const words = [
    time === undefined ? t('Nothing measured') : exactTime(new Date(time * 1000)),
    ...chart.lines.map((line) => `${t(line.label)}: ${figureOf(line, shown)}`),
  ].join(', ');
  return (
    <figure className={classes.chart}>
      <figcaption className={classes.caption}>
        <span className={classes.title}>{title}</span>
        {chart.limit !== null && (
          <span className={classes.limit}>
            {t('limit {{figure}}', { figure: formatFigure(chart.limit, chart.unit) })}
          </span>
        )}
        <span className={classes.legend}>
          {chart.lines.map((line, n) => (
            <span key={line.name} className={classes.entry}>
              {chart.lines.length > 1 && (
                <>
                  <span className={classes.mark} data-line={n + 1} aria-hidden="true" />
                  {t(line.label)}{' '}
                </>
              )}
              <b data-testid={`metrics-value-${line.name}`}>{figureOf(line, shown)}</b>
            </span>
          ))}
        </span>
      </figcaption>
      <Plot
        chart={chart}
        times={times}
        from={from}
        to={to}
        step={step}
        index={at}
        onIndex={onIndex}
        onHold={onHold}
        onZoom={onZoom}
        label={title}
        words={words}
      />
      <p className={classes.moment}>
        {at !== null && time !== undefined && <span>{exactTime(new Date(time * 1000))}</span>}
        {log !== null && (
          <Anchor component={Link} to={log} fz="inherit" data-testid="metrics-log-link">
            {t('See the log at this moment')}
          </Anchor>
        )}
      </p>
    </figure>
  );

  function figureOf({ series }: Line, n: number | null): string {
    const average = n === null ? null : (series.avg[n] ?? null);
    if (average === null || n === null) return '–';
    const most = series.max[n] ?? average;
    const figure = formatFigure(average, series.unit);
    const highest = formatFigure(most, series.unit);
    return highest === figure ? figure : t('{{figure}}, at most {{highest}}', { figure, highest });
  }
}

/** The newest point at which anything of a chart was measured. */
function lastMeasured({ lines }: ChartSpec): number | null {
  const last = Math.max(...lines.map(({ series }) => series.avg.findLastIndex((figure) => figure !== null)));
  return last < 0 ? null : last;
}
