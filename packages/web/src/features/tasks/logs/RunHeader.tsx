import { runName } from '@stagi/contract/taskRules.ts';
import type { TaskDetail, TaskRun } from '@stagi/contract/tasks.ts';
import { Link, useNavigate } from 'react-router';
import { useT } from '../../../i18n/i18n.ts';
import { paths } from '../../../paths.ts';
import { Button } from '../../../ui/Button.tsx';
import { Select } from '../../../ui/form/Select.tsx';
import { PageHeader } from '../../../ui/PageHeader.tsx';
import { StatusBadge } from '../../../ui/StatusBadge.tsx';
import { DateTime } from '../../../ui/Time.tsx';
import { RunDuration } from '../RunDuration.tsx';

/** Which run of which task this is, how it went, and the way to the others. */
export function RunHeader({ task, run }: { task: TaskDetail; run: TaskRun }) {
  const t = useT();
  const navigate = useNavigate();
  const { id, ordinal, title, project, runs } = task;
  const isLast = run.number === task.runCount;
  return (
    <PageHeader
      title={title}
      status={
        <>
          <span className="mono muted">
            #{ordinal} {runName(run.number)}
          </span>
          {isLast && (
            <span data-testid="task-status">
              <StatusBadge status={task.status} prominent />
            </span>
          )}
        </>
      }
      actions={
        <>
          {runs.length > 1 && (
            <Select
              aria-label={t('Run')}
              options={runs.map(({ number }) => ({ value: number, label: runName(number) }))}
              w={120}
              value={run.number}
              onChange={(number: number | null) =>
                number !== null && void navigate(paths.taskLog(project.id, id, number))
              }
              data-testid="log-run-select"
            />
          )}
          <Button color="gray" component={Link} to={paths.task(id)}>
            {t('Task')}
          </Button>
        </>
      }
    >
      {run.startedAt === null ? t('Not started') : <DateTime at={run.startedAt} />}
      {run.startedAt !== null && (
        <>
          {' · '}
          <RunDuration of={run} />
        </>
      )}
      {run.exitCode !== null && (
        <>
          {' · '}
          {t('exit code')} <span className="mono">{run.exitCode}</span>
        </>
      )}
      {run.reason && ` · ${t(run.reason)}`}
    </PageHeader>
  );
}
