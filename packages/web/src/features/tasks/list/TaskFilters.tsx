import { api } from '@stagi/contract/api.ts';
import type { Project } from '@stagi/contract/projects.ts';
import { TaskStatus } from '@stagi/contract/taskRules.ts';
import type { Task } from '@stagi/contract/tasks.ts';
import { IconStar, IconStarFilled } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { q } from '../../../api/query.ts';
import { useT } from '../../../i18n/i18n.ts';
import type { ListState } from '../../../lists/useListState.ts';
import { idIn } from '../../../paths.ts';
import { Button } from '../../../ui/Button.tsx';
import { Select } from '../../../ui/form/Select.tsx';
import { Tag } from '../../../ui/Tag.tsx';
import { StatusFilter } from '../../../ui/table/StatusFilter.tsx';
import { TASK_FILTERS } from './listInput.ts';

const ALL = { limit: 100, orderByField: 'title', orderByDirection: 'asc' as const };

interface Props {
  project: Project;
  state: ListState;
  /** Those that are shown. */
  tasks: readonly Task[] | undefined;
}

/** By status, by server, favourites only; and of a schedule, where a link asked for it. */
export function TaskFilters({ project, state, tasks }: Props) {
  const t = useT();
  const onlyFavorites = state.filter(TASK_FILTERS.favorites) === '1';
  const scheduleId = idIn(state.filter(TASK_FILTERS.schedule));
  return (
    <>
      <StatusFilter statuses={TaskStatus.options} value={state.statuses} onChange={state.setStatuses} />
      <ServerFilter project={project} state={state} tasks={tasks} />
      <Button
        color="gray"
        icon={onlyFavorites ? <IconStarFilled size={16} /> : <IconStar size={16} />}
        aria-pressed={onlyFavorites}
        onClick={() => state.setFilter(TASK_FILTERS.favorites, onlyFavorites ? '' : '1')}
        data-testid="task-favorites"
      >
        {t('Favourites')}
      </Button>
      {scheduleId !== null && (
        <Tag onRemove={() => state.setFilter(TASK_FILTERS.schedule, '')} removeLabel={t('Tasks of all schedules')}>
          {tasks?.[0]?.schedule?.title ?? t('One schedule')}
        </Tag>
      )}
    </>
  );
}

/** A choice once there are several servers. One that was detached can be chosen while its tasks are shown. */
function ServerFilter({ project, state, tasks = [] }: Props) {
  const t = useT();
  const chosen = idIn(state.filter(TASK_FILTERS.server));
  const { data } = useQuery(
    q(api.projects.instances, { projectRef: { id: project.id }, entityFilterRequest: ALL }, { quiet: true }),
  );
  const servers = new Map(
    [...tasks, ...(data?.entities ?? [])].map(({ instance: { id, title } }) => [id, title] as const),
  );
  if (chosen === null && servers.size < 2) return null;
  return (
    <Select
      aria-label={t('Server')}
      placeholder={t('All servers')}
      options={[...servers].map(([value, label]) => ({ value, label }))}
      w={180}
      mayBeEmpty
      value={chosen}
      onChange={(id: number | null) => state.setFilter(TASK_FILTERS.server, id === null ? '' : String(id))}
      data-testid="task-server"
    />
  );
}
