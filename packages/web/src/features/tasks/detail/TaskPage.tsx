import { Anchor, Skeleton } from '@mantine/core';
import { api } from '@stagi/contract/api.ts';
import type { TaskDetail } from '@stagi/contract/tasks.ts';
import { Suspense } from 'react';
import { Link } from 'react-router';
import { useHasPermission } from '../../../api/user.ts';
import { useT } from '../../../i18n/i18n.ts';
import { DetailPage, DetailTabs } from '../../../layouts/DetailPage.tsx';
import { lazyComponent } from '../../../lazyChunks.ts';
import { LazyMetrics } from '../../../metrics/LazyMetrics.tsx';
import { paths } from '../../../paths.ts';
import { CutText } from '../../../ui/CutText.tsx';
import { EmptyState } from '../../../ui/EmptyState.tsx';
import { FavoriteStar } from '../FavoriteStar.tsx';
import { hasEnded, useTaskActions } from '../useTaskActions.tsx';
import { TaskOverview } from './TaskOverview.tsx';

/** Events announce every change of status; what has been pulled or stored so far, and costs, are asked for. */
const REFETCH_MS = 60_000;
const REFETCH_RUNNING_MS = 5_000;
const REFETCH_IN_TRANSITION_MS = 1_500;

/** Code of its own: the overview does not wait for it. */
const TaskOutput = lazyComponent(async () => (await import('./TaskOutput.tsx')).TaskOutput);

export function TaskPage() {
  const mayOpenProject = useHasPermission('PROJECT', 'PROJECT_MANAGEMENT');
  return (
    <DetailPage
      view={api.tasks.view}
      everyMs={everyMs}
      pageTitle={({ ordinal, title }) => `#${ordinal} ${title}`}
      above={({ project }) =>
        mayOpenProject ? { to: paths.project(project.id, 'tasks'), title: project.title } : undefined
      }
    >
      {(task) => <Loaded task={task} />}
    </DetailPage>
  );
}

function everyMs(task: TaskDetail | undefined): number {
  if (!task || hasEnded(task)) return REFETCH_MS;
  return task.runs[0]?.progress ? REFETCH_IN_TRANSITION_MS : REFETCH_RUNNING_MS;
}

function Loaded({ task }: { task: TaskDetail }) {
  const t = useT();
  const { id, ordinal, project } = task;
  const actions = useTaskActions();
  const mayOpenProject = useHasPermission('PROJECT_MANAGEMENT');
  const maySeeContainer = useHasPermission(
    'PROJECT_MANAGEMENT',
    task.instance.kind === 'rented' ? 'INSTANCE_RENTED_MANAGEMENT' : 'SELFHOSTED_INSTANCE_MANAGEMENT',
  );
  const title = <CutText>{project.title}</CutText>;
  return (
    <>
      <DetailTabs
        entity={evidenceOf(task)}
        statusTestId="task-status"
        besideTitle={
          <>
            <span className="mono muted">#{ordinal}</span>
            <FavoriteStar task={task} />
          </>
        }
        actions={actions.of(task).map((action) => ({
          ...action,
          primary: action.testId === nextStep(task),
        }))}
        before={
          <>
            {t('in the project')}{' '}
            {mayOpenProject ? (
              <Anchor component={Link} to={paths.project(project.id, 'tasks')} fz="inherit" underline="always">
                {title}
              </Anchor>
            ) : (
              title
            )}
            {' · '}
          </>
        }
        label={t('Task')}
        tabs={[
          {
            name: 'overview',
            label: t('Overview'),
            to: paths.task(id),
            end: true,
            body: <TaskOverview task={task} />,
          },
          {
            name: 'output',
            label: t('Output'),
            to: paths.task(id, 'output'),
            body: (
              <Suspense fallback={<Skeleton height={240} />}>
                <TaskOutput key={id} task={task} />
              </Suspense>
            ),
          },
          ...(maySeeContainer
            ? [
                {
                  name: 'metrics',
                  label: t('Metrics'),
                  to: paths.task(id, 'metrics'),
                  body: <TaskMetrics task={task} />,
                },
              ]
            : []),
        ]}
      />
      {actions.dialog}
    </>
  );
}

/** Of the newest run that has a container. */
function TaskMetrics({ task }: { task: TaskDetail }) {
  const t = useT();
  const run = task.runs.find(({ container }) => container !== null);
  const noSamples = t('A task is measured while it runs.');
  if (!run?.container) return <EmptyState title={t('No samples yet')}>{noSamples}</EmptyState>;
  const { startedAt, finishedAt } = run;
  return (
    <LazyMetrics
      key={run.container.id}
      of={api.metrics.container}
      id={run.container.id}
      logPath={paths.taskLog(task.project.id, task.id, run.number)}
      noSamples={noSamples}
      {...(startedAt && finishedAt ? { ended: { startedAt, finishedAt } } : {})}
    />
  );
}

/** What its status rests on. The overview says why it is so, and when it is tried again. */
const evidenceOf = (task: TaskDetail): TaskDetail => ({
  ...task,
  statusReason: null,
  statusDeadline: task.status === 'scheduled' ? null : task.statusDeadline,
  statusSeenAt: hasEnded(task) ? null : task.statusSeenAt,
});

/** The one main action: none while it waits. */
function nextStep(task: TaskDetail): string | null {
  if (hasEnded(task)) return 'action-rerun';
  return task.startedAt === null ? null : 'action-logs';
}
