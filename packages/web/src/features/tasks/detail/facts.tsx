import { Anchor } from '@mantine/core';
import type { TaskDetail } from '@stagi/contract/tasks.ts';
import type { ReactNode } from 'react';
import { Link } from 'react-router';
import { useHasPermission } from '../../../api/user.ts';
import { useT } from '../../../i18n/i18n.ts';
import { personName } from '../../../i18n/personName.ts';
import { paths } from '../../../paths.ts';
import { CutText } from '../../../ui/CutText.tsx';
import { FactList } from '../../../ui/FactList.tsx';
import { formatNumber } from '../../../ui/format.ts';
import { Money } from '../../../ui/Money.tsx';
import { StatusBadge } from '../../../ui/StatusBadge.tsx';
import { DateTime, TimeAgo } from '../../../ui/Time.tsx';
import { priorityWord } from '../priorityWords.ts';
import { RunDuration } from '../RunDuration.tsx';
import { useServerPath } from '../useServerPath.ts';
import { hasEnded } from '../useTaskActions.tsx';
import classes from './Detail.module.css';

interface Props {
  task: TaskDetail;
}

/** Where and when it ran, and what that cost. */
export function RunFacts({ task }: Props) {
  const t = useT();
  const { instance, schedule, project } = task;
  const serverPath = useServerPath()(instance);
  return (
    <FactList
      title={t('State')}
      facts={[
        { label: t('Server'), value: <Named title={instance.title} to={serverPath} /> },
        { label: t('Server status'), value: <StatusBadge status={instance.status} /> },
        { label: t('Queued'), value: <DateTime at={task.createdAt} /> },
        { label: t('Started'), value: task.startedAt && <DateTime at={task.startedAt} /> },
        { label: t('Ended'), value: task.finishedAt && <DateTime at={task.finishedAt} /> },
        { label: t('Duration'), value: <RunDuration of={task} /> },
        { label: t('Exit code'), value: task.exitCode === null ? null : String(task.exitCode), mono: true },
        ...(task.statusSeenAt && !hasEnded(task)
          ? [{ label: t('Last report'), value: <TimeAgo at={task.statusSeenAt} /> }]
          : []),
        {
          label: t('Cost so far'),
          value: instance.kind === 'self-hosted' ? t('Own server: no charge') : <Money price={task.cost} />,
        },
        ...(instance.kind === 'rented'
          ? [{ label: t('Price of the server'), value: <Money price={task.pricePerHour} per="hour" /> }]
          : []),
        ...(schedule
          ? [
              {
                label: t('Schedule'),
                value: (
                  <Named title={schedule.title} to={`${paths.project(project.id, 'tasks')}?schedule=${schedule.id}`} />
                ),
              },
            ]
          : []),
        { label: t('Created by'), value: task.createdBy === null ? null : personName(t, task.createdBy) },
      ]}
    />
  );
}

/** The commit, and what its command gets. */
export function TaskFacts({ task }: Props) {
  const t = useT();
  const { commit, project, timeLimitMinutes, retries, retryOnFailure } = task;
  const mayOpen = useHasPermission('PROJECT_MANAGEMENT');
  return (
    <FactList
      title={t('Task')}
      facts={[
        {
          label: t('Commit'),
          value: <Named title={commit.sha.slice(0, 7)} to={mayOpen ? paths.commit(project.id, commit) : null} mono />,
          copy: commit.sha,
        },
        { label: t('Commit message'), value: <span translate="no">{commit.message}</span> },
        ...(commit.ref === null ? [] : [{ label: t('Branch or tag'), value: commit.ref, mono: true }]),
        { label: t('Code path'), value: <Path>{task.codePath}</Path>, mono: true },
        { label: t('Image'), value: <Path>{task.image}</Path>, mono: true, copy: task.image },
        { label: t('CPU'), value: formatNumber(task.cpus), mono: true },
        { label: t('GPU'), value: task.gpuCount === 0 ? null : String(task.gpuCount), mono: true },
        {
          label: t('Time limit'),
          value: timeLimitMinutes === null ? t('no limit') : t('{{count}} minutes', { count: timeLimitMinutes }),
        },
        { label: t('Time to stop'), value: t('{{seconds}} s', { seconds: task.stopGraceSeconds }) },
        { label: t('Retries'), value: retryWords() },
        { label: t('Priority'), value: priorityWord(t, task.priority) },
      ]}
    />
  );

  function retryWords(): string {
    if (retries === 0) return t('none');
    return retryOnFailure
      ? t('up to {{number}}, also on a non-zero exit code', { number: retries })
      : t('up to {{number}}', { number: retries });
  }
}

/** What it reads, and where its files go. */
export function DataFacts({ task }: Props) {
  const t = useT();
  const { storage, outputUri } = task;
  const mayOpen = useHasPermission('INSTANCE_RENTED_MANAGEMENT') && storage.status !== 'deleted';
  return (
    <FactList
      title={t('Data')}
      facts={[
        {
          label: t('Storage'),
          value: <Named title={storage.title} to={mayOpen ? paths.storage(storage.id, 'objects') : null} />,
        },
        { label: t('Input URL path'), value: <Path>{task.inputUrlPath}</Path>, mono: true, copy: task.inputUrlPath },
        { label: t('Input path'), value: <Path>{task.inputPath}</Path>, mono: true },
        { label: t('Output path'), value: <Path>{task.outputPath}</Path>, mono: true },
        { label: t('Output is stored at'), value: <Path>{outputUri}</Path>, mono: true, copy: outputUri },
      ]}
    />
  );
}

export function EnvironmentFacts({ task: { envNames } }: Props) {
  const t = useT();
  if (envNames.length === 0) return null;
  return (
    <FactList
      title={t('Environment')}
      facts={envNames.map((name) => ({
        label: name,
        value: <span title={t('Kept encrypted, not shown again')}>••••••</span>,
      }))}
    />
  );
}

/** A link, where the person's role opens it. */
function Named({ title, to, mono = false }: { title: string; to: string | null; mono?: boolean }) {
  const name = <CutText className={mono ? 'mono' : undefined}>{title}</CutText>;
  return to === null ? (
    name
  ) : (
    <Anchor component={Link} to={to} fz="inherit" className={classes.named}>
      {name}
    </Anchor>
  );
}

const Path = ({ children }: { children: ReactNode }) => <span className={classes.path}>{children}</span>;
