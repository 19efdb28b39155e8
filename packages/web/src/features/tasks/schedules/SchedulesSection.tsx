import { api } from '@stagi/contract/api.ts';
import { projectCan } from '@stagi/contract/projectRules.ts';
import type { TaskSchedule } from '@stagi/contract/taskSchedules.ts';
import { IconCalendarRepeat, IconPlus } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate } from 'react-router';
import { errorText } from '../../../api/messages.ts';
import { q } from '../../../api/query.ts';
import { useProject } from '../../../featureSlots.ts';
import { useT } from '../../../i18n/i18n.ts';
import { paths } from '../../../paths.ts';
import { ActionButton, ActionMenu } from '../../../ui/actions.tsx';
import { EmptyState } from '../../../ui/EmptyState.tsx';
import { DataTable } from '../../../ui/table/DataTable.tsx';
import classes from './Schedules.module.css';
import { useScheduleActions } from './useScheduleActions.tsx';
import { useScheduleColumns } from './useScheduleColumns.tsx';

/** A project has at most so many. */
const ALL = { limit: 100, orderByField: 'title', orderByDirection: 'asc' as const };

/** The schedules of a project: when each starts its task, and what came of it. */
export function SchedulesSection({ projectId }: { projectId: number }) {
  const t = useT();
  const navigate = useNavigate();
  const project = useProject();
  const { data, error, isFetching, refetch } = useQuery(
    q(api.tasks.schedules, { projectRef: { id: projectId }, entityFilterRequest: ALL }, { quiet: true }),
  );
  const columns = useScheduleColumns();
  const actions = useScheduleActions();
  const create = (
    <ActionButton
      icon={<IconPlus size={16} />}
      verdict={projectCan.change(project)}
      onClick={() => void navigate(paths.newTask({ project: projectId, schedule: 'new' }))}
      testId="schedule-create"
    >
      {t('Create a schedule')}
    </ActionButton>
  );
  return (
    <section className={classes.section} aria-labelledby="schedules" data-testid="schedules">
      <div className={classes.head}>
        <h2 id="schedules">{t('Schedules')}</h2>
        {data && data.entities.length > 0 && create}
      </div>
      <DataTable<TaskSchedule>
        label={t('Schedules')}
        rowTestId="schedule-row"
        columns={columns}
        rows={data?.entities}
        rowKey={({ id }) => id}
        rowName={({ title }) => title}
        rowLink={({ id }, cell) => <Link to={paths.newTask({ schedule: id })}>{cell}</Link>}
        rowActions={(row) => (
          <ActionMenu label={t('Actions for {{title}}', { title: row.title })} actions={() => actions.of(row)} />
        )}
        error={error && errorText(error)}
        onRetry={() => void refetch()}
        retrying={isFetching}
        empty={
          <EmptyState icon={<IconCalendarRepeat size={20} />} title={t('No schedules yet')} action={create}>
            {t('A schedule starts the same task again and again, such as every night.')}
          </EmptyState>
        }
      />
      {actions.dialog}
    </section>
  );
}
