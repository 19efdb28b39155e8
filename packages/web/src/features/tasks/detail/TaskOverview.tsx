import { Stack } from '@mantine/core';
import type { TaskDetail } from '@stagi/contract/tasks.ts';
import { useT } from '../../../i18n/i18n.ts';
import { CodeBlock } from '../../../ui/CodeBlock.tsx';
import { FactPanels } from '../../../ui/FactList.tsx';
import { DataFacts, EnvironmentFacts, RunFacts, TaskFacts } from './facts.tsx';
import { RunsTable } from './RunsTable.tsx';
import { TaskState } from './TaskState.tsx';
import { Timeline } from './Timeline.tsx';

/** What a task runs, where, and what came of it. */
export function TaskOverview({ task }: { task: TaskDetail }) {
  const t = useT();
  return (
    <Stack gap={16}>
      <TaskState task={task} />
      <CodeBlock title={t('Command')} code={task.command} wrap />
      <RunsTable task={task} />
      <FactPanels>
        <RunFacts task={task} />
        <TaskFacts task={task} />
        <DataFacts task={task} />
        <EnvironmentFacts task={task} />
      </FactPanels>
      <Timeline events={task.timeline} />
    </Stack>
  );
}
