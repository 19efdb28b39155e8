import { api } from '@stagi/contract/api.ts';
import { runName, runNumber } from '@stagi/contract/taskRules.ts';

import { useQuery } from '@tanstack/react-query';
import { useEffect, useRef } from 'react';
import { useParams } from 'react-router';
import { track } from '../../../api/analytics.ts';
import { errorText } from '../../../api/messages.ts';
import { q } from '../../../api/query.ts';
import { NotFound } from '../../../errorPages/NotFound.tsx';
import { usePageTitle } from '../../../navigation/pageTitle.tsx';
import { useRouteId } from '../../../navigation/useRouteId.ts';
import { idIn } from '../../../paths.ts';
import { ErrorState } from '../../../ui/ErrorState.tsx';
import { DetailSkeleton } from '../../../ui/Skeletons.tsx';
import { hasEnded } from '../useTaskActions.tsx';
import { RunHeader } from './RunHeader.tsx';
import { RunLog } from './RunLog.tsx';

const REFETCH_MS = 60_000;
const REFETCH_RUNNING_MS = 5_000;

/** The log of one run of a task: `/projects/{id}/tasks/logs/{taskId}/run-{number}`. */
export function TaskLogPage() {
  const { taskId, name = '' } = useParams();
  const id = idIn(taskId);
  const number = runNumber(name);
  if (id === null || number === null) return <NotFound />;
  return <TaskLog key={id} taskId={id} number={number} />;
}

function TaskLog({ taskId, number }: { taskId: number; number: number }) {
  const projectId = useRouteId();
  const { data, error, isFetching, refetch } = useQuery({
    ...q(api.tasks.view, { id: taskId }),
    refetchInterval: ({ state }) => (state.data && hasEnded(state.data.entity) ? REFETCH_MS : REFETCH_RUNNING_MS),
  });
  const task = data?.entity;
  const isOfProject = task?.project.id === projectId;
  useVisitOfLog(isOfProject ? taskId : null);
  usePageTitle(task && isOfProject ? `#${task.ordinal} ${task.title} · ${runName(number)}` : undefined);
  if (!task)
    return error ? (
      <ErrorState message={errorText(error)} onRetry={() => void refetch()} retrying={isFetching} />
    ) : (
      <DetailSkeleton />
    );
  const run = task.runs.find((one) => one.number === number);
  if (!isOfProject || !run) return <NotFound />;
  return (
    <>
      <RunHeader task={task} run={run} />
      <RunLog key={number} task={task} run={run} />
    </>
  );
}

/** Once for each visit of the page, whichever runs are looked at. */
function useVisitOfLog(taskId: number | null): void {
  const visited = useRef<number | null>(null);
  useEffect(() => {
    if (taskId === null || visited.current === taskId) return;
    visited.current = taskId;
    track('task_logs_page_visited', { task_ID: taskId });
  }, [taskId]);
}
