import { Anchor, Progress } from '@mantine/core';
import type { TaskDetail, TaskRun } from '@stagi/contract/tasks.ts';
import type { ReactNode } from 'react';
import { Link } from 'react-router';
import { useT } from '../../../i18n/i18n.ts';
import { paths } from '../../../paths.ts';
import { formatBytes, formatNumber } from '../../../ui/format.ts';
import { Note } from '../../../ui/Note.tsx';
import { Countdown, DateTime, Elapsed } from '../../../ui/Time.tsx';
import { progressWords } from '../runProgress.ts';

interface Props {
  task: TaskDetail;
}

/** What happens now, what it waits for, or what came of it; and the next step. */
export function TaskState({ task }: Props) {
  const t = useT();
  const { status, statusReason, statusSince, statusDeadline, runs } = task;
  const run = runs[0];
  const reason = statusReason && t(statusReason);
  switch (status) {
    case 'new':
    case 'in queue':
      if (run?.container) return <Prepared task={task} run={run} />;
      return <Queued task={task} />;
    case 'scheduled':
      return (
        <Note
          title={
            <>
              {t('It waits')} · <Elapsed since={statusSince} />
            </>
          }
        >
          {reason}
          {statusDeadline && (
            <div data-testid="next-attempt">
              {t('Next attempt:')} <DateTime at={statusDeadline} /> <Countdown to={statusDeadline} />
            </div>
          )}
        </Note>
      );
    case 'running':
      return run ? <Running task={task} run={run} /> : null;
    case 'canceling':
      return (
        <Note
          tone="warn"
          title={
            <>
              {t('The task is being canceled')} · <Elapsed since={statusSince} />
            </>
          }
        >
          {reason && <div>{reason}</div>}
          {t('Its command is stopped. What it has put out so far is still stored.')}
          {run?.progress && <Bar progress={run.progress} />}
        </Note>
      );
    case 'done':
      return run ? <Done task={task} run={run} /> : null;
    case 'failed':
      return (
        <Note tone="bad" title={reason ?? t('The task failed')} action={run?.container && <LastLines task={task} />}>
          {run && run.output.phase === 'saved' && run.output.files > 0 && (
            <OutputLink task={task}>{t('What it has put out is stored')}</OutputLink>
          )}
        </Note>
      );
    case 'canceled':
      return (
        <Note title={reason ?? t('The task was canceled')}>
          {run && run.output.phase === 'saved' && run.output.files > 0 && (
            <OutputLink task={task}>{t('What it has put out is stored')}</OutputLink>
          )}
        </Note>
      );
  }
}

/** It waits for room on its server. */
function Queued({ task: { position, statusReason, statusSince, instance, cpus, gpuCount } }: Props) {
  const t = useT();
  return (
    <Note
      title={
        <>
          {position === null
            ? t('It waits for “{{server}}”', { server: instance.title })
            : t('Number {{position}} in the queue of “{{server}}”', { position, server: instance.title })}
          {' · '}
          <Elapsed since={statusSince} />
        </>
      }
    >
      {statusReason && <div>{t(statusReason)}</div>}
      <div>
        {gpuCount === 0
          ? t('Needs {{cpus}} CPU', { cpus: formatNumber(cpus) })
          : t('Needs {{cpus}} CPU and {{gpus}} GPU', { cpus: formatNumber(cpus), gpus: gpuCount })}
      </div>
    </Note>
  );
}

/** It has its place, and is being prepared. */
function Prepared({ task: { statusReason, statusSince }, run: { progress } }: Props & { run: TaskRun }) {
  const t = useT();
  return (
    <Note
      title={
        <>
          {progress
            ? progressWords(t, progress)
            : statusReason
              ? t(statusReason)
              : t('Waiting for the server to prepare it')}
          {' · '}
          <Elapsed since={statusSince} />
        </>
      }
    >
      <Bar progress={progress} />
    </Note>
  );
}

function Running({
  task: { statusReason, statusDeadline, timeLimitMinutes, startedAt },
  run,
}: Props & { run: TaskRun }) {
  const t = useT();
  const { progress, output } = run;
  if (progress)
    return (
      <Note title={progressWords(t, progress)}>
        {/* The detail says what hinders it, and so does the reason. */}
        {progress.detail !== null && statusReason && <div>{t(statusReason)}</div>}
        {output.phase === 'saving' && output.files > 0 && <Stored output={output} />}
        <Bar progress={progress} />
      </Note>
    );
  if (statusReason)
    return (
      <Note tone="warn" title={t(statusReason)}>
        {statusDeadline && (
          <>
            {t('Counts as failed at:')} <DateTime at={statusDeadline} /> <Countdown to={statusDeadline} />
          </>
        )}
      </Note>
    );
  if (timeLimitMinutes === null || startedAt === null) return null;
  const limit = new Date(Date.parse(startedAt) + timeLimitMinutes * 60_000).toISOString();
  return (
    <Note>
      {t('It is stopped at its time limit:')} <DateTime at={limit} /> <Countdown to={limit} />
    </Note>
  );
}

function Done({ task, run: { output } }: Props & { run: TaskRun }) {
  const t = useT();
  if (output.files === 0) return <Note>{t('No output files.')}</Note>;
  return (
    <Note>
      <OutputLink task={task}>
        {t('{{count}} files are stored ({{size}})', { count: output.files, size: formatBytes(output.bytes) })}
      </OutputLink>
    </Note>
  );
}

/** How much is stored so far. */
function Stored({ output: { files, bytes } }: Pick<TaskRun, 'output'>) {
  const t = useT();
  return <div>{t('{{count}} files, {{size}}', { count: files, size: formatBytes(bytes) })}</div>;
}

/** The detail of a slow step, and a bar; a moving one where nobody knows how far it is. */
function Bar({ progress }: Pick<TaskRun, 'progress'>) {
  const t = useT();
  const fraction = progress?.fraction ?? null;
  return (
    <>
      {progress?.detail && progress.phase !== 'saving' && <span className="mono">{progress.detail}</span>}
      <Progress
        mt={8}
        size="sm"
        value={fraction === null ? 100 : fraction * 100}
        animated={fraction === null}
        striped={fraction === null}
        aria-label={progress ? progressWords(t, progress) : t('Progress')}
      />
    </>
  );
}

function LastLines({ task: { id, project, runCount } }: Props) {
  const t = useT();
  return (
    <Anchor component={Link} to={paths.taskLog(project.id, id, runCount)} fz="inherit">
      {t('See its last lines')}
    </Anchor>
  );
}

function OutputLink({ task: { id }, children }: Props & { children: ReactNode }) {
  return (
    <Anchor component={Link} to={paths.task(id, 'output')} fz="inherit" underline="always">
      {children}
    </Anchor>
  );
}
