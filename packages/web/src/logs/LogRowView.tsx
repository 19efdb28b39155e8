import type { LogGap, LogRun } from '@stagi/contract/logging.ts';
import { IconAlertTriangle } from '@tabler/icons-react';
import { memo } from 'react';
import { useT } from '../i18n/i18n.ts';
import { LineText } from './LineText.tsx';
import classes from './Logs.module.css';
import { lineTime } from './lineTime.ts';
import type { LogRow } from './logRows.ts';

interface Props {
  row: LogRow;
  index: number;
  start: number;
  /** Given where the height depends on the content. */
  measure?(element: HTMLElement | null): void;
  search: string;
  timestamps: boolean;
}

export const LogRowView = memo(function LogRowView({ row, index, start, measure, search, timestamps }: Props) {
  const t = useT();
  const place = { ref: measure, 'data-index': index, style: { transform: `translateY(${start}px)` } };
  switch (row.kind) {
    case 'line': {
      const { seq, stream, text, time } = row.line;
      return (
        <div {...place} className={classes.line} data-seq={seq} data-stream={stream}>
          <span className={classes.stream} title={stream}>
            {stream === 'stderr' && 'err'}
          </span>
          {timestamps && (
            <time className={classes.time} dateTime={time} title={time}>
              {lineTime(time)}
            </time>
          )}
          <span className={classes.text}>
            <LineText text={text} search={search} />
          </span>
        </div>
      );
    }
    case 'gap':
      return (
        <div {...place} className={classes.gap} data-testid="log-gap">
          <IconAlertTriangle size={14} aria-hidden="true" />
          <Gap gap={row.gap} />
        </div>
      );
    case 'unloaded':
      return (
        <div {...place} className={classes.gap} data-testid="log-hole">
          {t('{{count}} lines are being fetched…', { count: row.toSeq - row.fromSeq + 1 })}
        </div>
      );
    case 'run':
      return (
        <div {...place} className={classes.run} data-testid="log-run">
          <RunMark run={row.run} before={row.before} />
        </div>
      );
    default:
      return row satisfies never;
  }
});

/** Where one run ends and the next begins. */
function RunMark({ run, before }: { run: LogRun; before: LogRun | null }) {
  const t = useT();
  return (
    <span>
      {before && `${ended(before)} · `}
      {t('Run {{number}} started {{time}}', { number: run.number, time: lineTime(run.startedAt) })}
    </span>
  );

  function ended({ number, endedAt, exitCode }: LogRun): string {
    if (exitCode !== null) return t('Run {{number}} ended with exit code {{code}}', { number, code: exitCode });
    return endedAt
      ? t('Run {{number}} ended {{time}}', { number, time: lineTime(endedAt) })
      : t('Run {{number}} ended', { number });
  }
}

function Gap({ gap: { from, to, reason } }: { gap: LogGap }) {
  const t = useT();
  const when =
    from && to
      ? t('from {{from}} to {{to}}', { from: lineTime(from), to: lineTime(to) })
      : (from ?? to) && lineTime(from ?? to ?? '');
  return (
    <span>
      {t('Lines are missing here')}
      {when && ` · ${when}`}
      {` · ${t(reason)}`}
    </span>
  );
}
