import type { Container } from '@stagi/contract/containers.ts';
import { Link } from 'react-router';
import { type T, useT } from '../../i18n/i18n.ts';
import { paths } from '../../paths.ts';
import { CutText } from '../../ui/CutText.tsx';
import { formatNumber } from '../../ui/format.ts';
import { StatusBadge } from '../../ui/StatusBadge.tsx';
import { nameColumn, timeColumn } from '../../ui/table/columns.tsx';
import type { Column } from '../../ui/table/tableTypes.ts';
import classes from './Containers.module.css';
import { shownStatus } from './restarts.ts';
import { TaskCell } from './TaskMark.tsx';
import { useProgressText } from './useProgressText.ts';

export function useContainerColumns(withServer: boolean, rows: readonly Container[] = []): Column<Container>[] {
  const t = useT();
  const task: Column<Container> = {
    key: 'task',
    title: t('Task'),
    cell: ({ task }) => task && <TaskCell task={task} />,
  };
  const server: Column<Container> = {
    key: 'server',
    title: t('Server'),
    sortBy: 'instance',
    cell: ({ instance }) => (
      <Link className="quiet-link" to={paths.server(instance, 'containers')}>
        <CutText>{instance.title}</CutText>
      </Link>
    ),
  };
  return [
    nameColumn(t('Name')),
    { key: 'status', title: t('Status'), sortBy: 'status', cell: (container) => <Status of={container} /> },
    ...(withServer ? [server] : []),
    ...(rows.some((row) => row.task !== null) ? [task] : []),
    {
      key: 'image',
      title: t('Image'),
      sortBy: 'dockerImage',
      cell: ({ dockerImage }) => (
        <span className={classes.image} title={dockerImage}>
          {dockerImage}
        </span>
      ),
    },
    {
      key: 'cpus',
      title: t('CPU'),
      sortBy: 'cpus',
      align: 'right',
      cell: ({ cpus }) => <span className="mono">{formatNumber(cpus)}</span>,
    },
    {
      key: 'gpus',
      title: t('GPU'),
      align: 'right',
      cell: ({ gpuIds }) => <span className="mono">{gpuIds.length === 0 ? '—' : gpuIds.length}</span>,
    },
    {
      key: 'ports',
      title: t('Ports'),
      cell: ({ portMappings }) => (
        <span className="mono">
          {portMappings.length === 0
            ? '—'
            : portMappings
                .slice(0, 2)
                .map(({ host, container }) => `${host}→${container}`)
                .join(' ') + (portMappings.length > 2 ? ` +${portMappings.length - 2}` : '')}
        </span>
      ),
    },
    timeColumn('createdAt', t('Created')),
  ];
}

function Status({ of: container }: { of: Container }) {
  const t = useT();
  const progress = useProgressText()(container);
  const { status, exitCode, pendingEdit } = container;
  const change = pendingEdit && (pendingEdit.failedStep ? t('Change not applied') : t('Change being applied'));
  const { restarts } = container;
  const second =
    progress ??
    change ??
    (restarts?.isLooping ? loopText(t, restarts) : null) ??
    (exitCode !== null && (status === 'exited' || status === 'failed')
      ? t('exit code {{code}}', { code: exitCode })
      : null);
  return (
    <span className={classes.status} data-testid="container-status">
      <StatusBadge status={shownStatus(container)} />
      {second && <span className={classes.second}>{second}</span>}
    </span>
  );
}

function loopText(t: T, { exitCode, count }: NonNullable<Container['restarts']>): string {
  const code = exitCode === null ? [] : [t('exit code {{code}}', { code: exitCode })];
  return [...code, t('{{count}} restarts', { count })].join(' · ');
}
