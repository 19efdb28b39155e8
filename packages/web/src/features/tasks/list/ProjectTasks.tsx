import { api } from '@stagi/contract/api.ts';
import { projectCan } from '@stagi/contract/projectRules.ts';
import { IconPlayerPlay, IconPlus } from '@tabler/icons-react';
import { Link, useNavigate } from 'react-router';
import { useProject } from '../../../featureSlots.ts';
import { useT } from '../../../i18n/i18n.ts';
import { ListTable } from '../../../lists/ListTable.tsx';
import { useList } from '../../../lists/useList.ts';
import { useListState } from '../../../lists/useListState.ts';
import { paths } from '../../../paths.ts';
import { ActionButton } from '../../../ui/actions.tsx';
import { SchedulesSection } from '../schedules/SchedulesSection.tsx';
import { hasEnded, useTaskActions } from '../useTaskActions.tsx';
import { TASK_FILTERS, tasksInput } from './listInput.ts';
import { TaskFilters } from './TaskFilters.tsx';
import { useTaskColumns } from './useTaskColumns.tsx';

/** Events announce every change. Costs grow without one while something runs. */
const REFETCH_MS = 30_000;
const REFETCH_UNFINISHED_MS = 10_000;

/** The tasks of one project, and its schedules. */
export function ProjectTasks() {
  const t = useT();
  const navigate = useNavigate();
  const project = useProject();
  const state = useListState({ filters: Object.values(TASK_FILTERS) });
  const list = useList(api.tasks.list, tasksInput(state, project.id), state, (answer) =>
    answer?.entities.every(hasEnded) ? REFETCH_MS : REFETCH_UNFINISHED_MS,
  );
  return (
    <>
      <ListTable
        list={list}
        label={t('Tasks')}
        name="project-tasks"
        search={t('Search tasks')}
        filters={<TaskFilters project={project} state={state} tasks={list.data?.entities} />}
        create={
          <ActionButton
            tone="primary"
            icon={<IconPlus size={16} />}
            verdict={projectCan.change(project)}
            onClick={() => void navigate(paths.newTask({ project: project.id }))}
            testId="task-create"
          >
            {t('Create a task')}
          </ActionButton>
        }
        rowTestId="task-row"
        columns={useTaskColumns()}
        rowKey={({ id }) => id}
        rowName={({ title }) => title}
        rowLink={({ id }, cell) => <Link to={paths.task(id)}>{cell}</Link>}
        actions={useTaskActions()}
        noMatches={{ title: t('No task matches'), text: t('Search by title, command, Unique ID or commit message.') }}
        empty={{
          icon: <IconPlayerPlay size={20} />,
          title: t('No tasks yet'),
          text: t(
            'A task runs a commit of this project on one of its servers, with input from a storage. It keeps the log and the files that the command puts out.',
          ),
        }}
      />
      <SchedulesSection projectId={project.id} />
    </>
  );
}
