import type { TaskSchedule } from '@stagi/contract/taskSchedules.ts';
import { Link } from 'react-router';
import { useT } from '../../../i18n/i18n.ts';
import { personName } from '../../../i18n/personName.ts';
import { paths } from '../../../paths.ts';
import { CutText } from '../../../ui/CutText.tsx';
import { StatusBadge } from '../../../ui/StatusBadge.tsx';
import { Tag } from '../../../ui/Tag.tsx';
import { TimeAgo } from '../../../ui/Time.tsx';
import type { Column } from '../../../ui/table/tableTypes.ts';
import classes from './Schedules.module.css';
import { scheduleWords } from './scheduleWords.ts';
import { ZonedTime } from './ZonedTime.tsx';

export function useScheduleColumns(): Column<TaskSchedule>[] {
  const t = useT();
  return [
    {
      key: 'title',
      title: t('Title'),
      card: 'head',
      cell: ({ title, instance }) => (
        <span className={classes.two}>
          <CutText>{title}</CutText>
          <span className={classes.second}>
            <CutText>{instance.title}</CutText>
          </span>
        </span>
      ),
    },
    {
      key: 'when',
      title: t('When'),
      cell: ({ cron, timeZone }) => (
        <span className={classes.two}>
          <span>{scheduleWords(t, cron)}</span>
          <span className={classes.second}>{timeZone.replaceAll('_', ' ')}</span>
        </span>
      ),
    },
    {
      key: 'next',
      title: t('Next'),
      cell: ({ isPaused, pausedReason, nextAt, timeZone }) =>
        isPaused ? (
          <span className={classes.two}>
            <span>
              <Tag>{t('Paused')}</Tag>
            </span>
            {pausedReason && <span className={`${classes.second} ${classes.reason}`}>{t(pausedReason)}</span>}
          </span>
        ) : nextAt ? (
          <ZonedTime at={new Date(nextAt)} timeZone={timeZone} />
        ) : (
          <span className="muted">{t('Never')}</span>
        ),
    },
    { key: 'last', title: t('Last time'), cell: (schedule) => <LastTime schedule={schedule} /> },
    {
      key: 'createdBy',
      title: t('Created by'),
      cell: ({ createdBy }) =>
        createdBy === null ? <span className="muted">—</span> : <CutText>{personName(t, createdBy)}</CutText>,
    },
  ];
}

/** When it came last, and what came of it. */
function LastTime({ schedule }: { schedule: TaskSchedule }) {
  const t = useT();
  const { lastAt, lastResult, lastReason, lastTask } = schedule;
  if (lastAt === null || lastResult === null) return <span className="muted">{t('Not yet')}</span>;
  return (
    <span className={classes.two}>
      {lastResult === 'started' ? (
        lastTask && (
          <span className={classes.task}>
            <Link to={paths.task(lastTask.id)}>#{lastTask.ordinal}</Link>
            <StatusBadge status={lastTask.status} />
          </span>
        )
      ) : (
        <span>{lastResult === 'skipped' ? t('Skipped') : t('Could not start')}</span>
      )}
      <span className={`${classes.second} ${classes.reason}`}>
        <TimeAgo at={lastAt} />
        {lastReason && ` · ${t(lastReason)}`}
      </span>
    </span>
  );
}
