import { runName } from '@stagi/contract/taskRules.ts';
import type { TaskDetail, TaskRun } from '@stagi/contract/tasks.ts';
import { Link } from 'react-router';
import { type T, useT } from '../../../i18n/i18n.ts';
import { paths } from '../../../paths.ts';
import { CutText } from '../../../ui/CutText.tsx';
import { formatBytes } from '../../../ui/format.ts';
import { DateTime } from '../../../ui/Time.tsx';
import { DataTable } from '../../../ui/table/DataTable.tsx';
import type { Column } from '../../../ui/table/tableTypes.ts';
import { RunCost } from '../RunCost.tsx';
import { RunDuration } from '../RunDuration.tsx';
import { progressWords } from '../runProgress.ts';

/** The runs of a task, newest first; each leads to its log. */
export function RunsTable({ task: { id, project, instance, runs } }: { task: TaskDetail }) {
  const t = useT();
  return (
    <DataTable<TaskRun>
      label={t('Runs')}
      rowTestId="task-run"
      rows={runs}
      rowKey={({ number }) => number}
      rowName={({ number }) => runName(number)}
      rowLink={({ number }, cell) => <Link to={paths.taskLog(project.id, id, number)}>{cell}</Link>}
      columns={columns()}
      empty={null}
    />
  );

  function columns(): Column<TaskRun>[] {
    const gpus: Column<TaskRun> = {
      key: 'gpus',
      title: t('GPU'),
      cell: ({ gpuIds }) => (
        <span className="mono">{gpuIds.length === 0 ? '—' : gpuIds.map((gpu) => `#${gpu}`).join(', ')}</span>
      ),
    };
    return [
      { key: 'run', title: t('Run'), cell: ({ number }) => <span className="mono">{runName(number)}</span> },
      { key: 'result', title: t('Result'), cell: (run) => <CutText>{resultWords(t, run)}</CutText> },
      {
        key: 'exitCode',
        title: t('Exit code'),
        align: 'right',
        cell: ({ exitCode }) => <span className="mono">{exitCode ?? '—'}</span>,
      },
      ...(runs.some(({ gpuIds }) => gpuIds.length > 0) ? [gpus] : []),
      { key: 'output', title: t('Output'), align: 'right', cell: (run) => outputWords(t, run) },
      {
        key: 'started',
        title: t('Started'),
        align: 'right',
        cell: ({ startedAt }) => (startedAt ? <DateTime at={startedAt} /> : <span className="muted">—</span>),
      },
      { key: 'duration', title: t('Duration'), align: 'right', cell: (run) => <RunDuration of={run} /> },
      { key: 'cost', title: t('Cost'), align: 'right', cell: (run) => <RunCost of={run} server={instance} /> },
    ];
  }
}

function resultWords(t: T, { reason, progress, startedAt, finishedAt, container, exitCode }: TaskRun): string {
  if (reason !== null) return t(reason);
  if (finishedAt !== null) return exitCode === 0 ? t('Succeeded') : t('Ended');
  if (progress) return progressWords(t, progress);
  if (startedAt !== null) return t('Running');
  return container === null ? t('Waiting for room') : t('Being prepared');
}

function outputWords(t: T, { output: { phase, files, bytes } }: TaskRun): string {
  switch (phase) {
    case 'none':
      return '—';
    case 'saving':
      return t('being stored');
    case 'saved':
      return files === 0 ? t('no files') : t('{{count}} files, {{size}}', { count: files, size: formatBytes(bytes) });
    case 'not saved':
      return t('not stored');
  }
}
