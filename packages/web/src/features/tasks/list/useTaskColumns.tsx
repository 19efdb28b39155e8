import type { Task } from '@stagi/contract/tasks.ts';
import { Link } from 'react-router';
import { useHasPermission } from '../../../api/user.ts';
import { useT } from '../../../i18n/i18n.ts';
import { personName } from '../../../i18n/personName.ts';
import { paths } from '../../../paths.ts';
import { CutText } from '../../../ui/CutText.tsx';
import { StatusBadge } from '../../../ui/StatusBadge.tsx';
import { DateTime } from '../../../ui/Time.tsx';
import type { Column } from '../../../ui/table/tableTypes.ts';
import { FavoriteStar } from '../FavoriteStar.tsx';
import { RunCost } from '../RunCost.tsx';
import { RunDuration } from '../RunDuration.tsx';
import classes from '../Tasks.module.css';
import { useServerPath } from '../useServerPath.ts';

export function useTaskColumns(): Column<Task>[] {
  const t = useT();
  return [
    { key: 'title', title: t('Task'), sortBy: 'title', cell: (task) => <Name of={task} /> },
    { key: 'status', title: t('Status'), sortBy: 'status', cell: (task) => <Status of={task} /> },
    { key: 'commit', title: t('Commit'), card: 'hidden', cell: (task) => <Commit of={task} /> },
    { key: 'server', title: t('Server'), cell: ({ instance }) => <Server of={instance} /> },
    {
      key: 'createdAt',
      title: t('Queued'),
      sortBy: 'createdAt',
      align: 'right',
      extra: true,
      cell: ({ createdAt }) => <DateTime at={createdAt} />,
    },
    {
      key: 'startedAt',
      title: t('Started'),
      sortBy: 'startedAt',
      align: 'right',
      cell: ({ startedAt }) => (startedAt ? <DateTime at={startedAt} /> : <span className="muted">—</span>),
    },
    { key: 'duration', title: t('Duration'), align: 'right', cell: (task) => <RunDuration of={task} /> },
    {
      key: 'cost',
      title: t('Cost'),
      sortBy: 'cost',
      align: 'right',
      cell: (task) => <RunCost of={task} server={task.instance} />,
    },
    {
      key: 'createdBy',
      title: t('Created by'),
      extra: true,
      cell: ({ createdBy }) => (createdBy === null ? '—' : personName(t, createdBy)),
    },
    {
      key: 'favorite',
      title: t('Favourite'),
      width: 40,
      card: 'foot',
      cell: (task) => <FavoriteStar task={task} />,
    },
  ];
}

function Name({ of: { ordinal, title, schedule } }: { of: Task }) {
  return (
    <span className={classes.stack}>
      <CutText>{title}</CutText>
      <span className={classes.second}>
        <CutText>{schedule ? `#${ordinal} · ${schedule.title}` : `#${ordinal}`}</CutText>
      </span>
    </span>
  );
}

function Status({ of: { status, statusReason, position, exitCode } }: { of: Task }) {
  const t = useT();
  return (
    <span className={classes.stack} data-testid="task-status">
      <StatusBadge status={status} />
      <span className={`${classes.second} ${classes.reason}`}>{second()}</span>
    </span>
  );

  function second() {
    if (position !== null) return t('number {{position}} in the queue', { position });
    if (statusReason !== null) return <CutText>{t(statusReason)}</CutText>;
    return exitCode === null ? null : t('exit code {{code}}', { code: exitCode });
  }
}

function Commit({ of: { commit, project } }: { of: Task }) {
  const mayOpen = useHasPermission('PROJECT_MANAGEMENT');
  const hash = commit.sha.slice(0, 7);
  return (
    <span className={`${classes.stack} ${classes.commit}`} translate="no">
      <CutText>{commit.message}</CutText>
      <span className={`${classes.second} mono`}>
        {mayOpen ? (
          <Link className="quiet-link" to={paths.commit(project.id, commit)}>
            {hash}
          </Link>
        ) : (
          hash
        )}
      </span>
    </span>
  );
}

function Server({ of }: { of: Task['instance'] }) {
  const path = useServerPath()(of);
  return path === null ? (
    <CutText>{of.title}</CutText>
  ) : (
    <Link className="quiet-link" to={path}>
      <CutText>{of.title}</CutText>
    </Link>
  );
}
