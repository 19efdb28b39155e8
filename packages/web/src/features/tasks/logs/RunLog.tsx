import { Skeleton } from '@mantine/core';
import { runName } from '@stagi/contract/taskRules.ts';
import type { TaskDetail, TaskRun } from '@stagi/contract/tasks.ts';
import { Suspense } from 'react';
import { useT } from '../../../i18n/i18n.ts';
import { lazyComponent } from '../../../lazyChunks.ts';
import { EmptyState } from '../../../ui/EmptyState.tsx';
import { hasEnded } from '../useTaskActions.tsx';

/** Code of its own: what is known of the run does not wait for it. */
const LogView = lazyComponent(async () => (await import('../../../logs/LogView.tsx')).LogView);

/** The lines of a run; before it has a place on its server there can be none. */
export function RunLog({ task, run }: { task: TaskDetail; run: TaskRun }) {
  const t = useT();
  const isOver = run.finishedAt !== null || hasEnded(task) || run.number < task.runCount;
  if (run.container === null)
    return (
      <EmptyState title={t('No output yet')}>
        {isOver ? t('This run ended before its command started.') : t('Lines appear here once the command runs.')}
      </EmptyState>
    );
  return (
    <Suspense fallback={<Skeleton height={240} />}>
      <LogView
        source={{ type: 'task', id: task.id, run: run.number }}
        fileName={`${task.slug}-${runName(run.number)}`}
        noLines={noLines()}
        ended={isOver ? t('Ended') : undefined}
      />
    </Suspense>
  );

  function noLines(): string {
    if (isOver) return t('The command of this run has printed nothing.');
    return run.startedAt === null
      ? t('Lines appear here once the command runs.')
      : t('Lines appear here the moment the command prints them.');
  }
}
