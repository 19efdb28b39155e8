import { api } from '@stagi/contract/api.ts';
import { TASK_ENDED, taskCan } from '@stagi/contract/taskRules.ts';
import type { Task } from '@stagi/contract/tasks.ts';
import { IconCopyPlus, IconFileText, IconPlayerPlay, IconX } from '@tabler/icons-react';
import { useNavigate } from 'react-router';
import { call } from '../../api/client.ts';
import { invalidate, queryClient } from '../../api/query.ts';
import { useCall } from '../../api/useCall.ts';
import { useT } from '../../i18n/i18n.ts';
import { type RowActions, useRowActions } from '../../lists/useRowActions.tsx';
import { paths } from '../../paths.ts';
import { toast } from '../../ui/toasts.ts';

/** Log, run again, clone, cancel. */
export function useTaskActions(): RowActions<Task> {
  const t = useT();
  const navigate = useNavigate();
  const rerun = useCall(api.tasks.rerun, {
    onDone: ({ entity }) => {
      void invalidate('task/', 'project/');
      toast.success(t('Task #{{number}} started', { number: entity.ordinal }));
      void navigate(paths.task(entity.id));
    },
  });
  return useRowActions<Task>(
    [
      {
        name: 'logs',
        label: t('Log'),
        icon: IconFileText,
        open: ({ id, project, runCount }) => void navigate(paths.taskLog(project.id, id, runCount)),
      },
      {
        name: 'rerun',
        label: t('Run again'),
        icon: IconPlayerPlay,
        can: (task) => (rerun.loading ? { allowed: false, reason: t('A task is being started') } : taskCan.rerun(task)),
        open: ({ id }) => void rerun.run({ id }),
      },
      {
        name: 'clone',
        label: t('Clone'),
        icon: IconCopyPlus,
        open: ({ id }) => void navigate(paths.newTask({ clone: id })),
      },
      {
        name: 'cancel',
        label: t('Cancel', { context: 'action' }),
        icon: IconX,
        can: taskCan.cancel,
        perform: ({ id }, options) =>
          call(api.tasks.cancel, { id }, options).then((answer) =>
            queryClient.setQueryData([api.tasks.view.path, { id }], answer),
          ),
        confirm: (task) => ({
          title: t('Cancel “{{title}}”?', { title: task.title }),
          confirmLabel: t('Cancel the task'),
          cancelLabel: t('Back'),
          text: task.startedAt === null ? t('The task has not started. It will not run.') : whatIsKept(task),
        }),
        many: {
          confirm: (tasks) => ({
            title: t('Cancel {{count}} tasks?', { count: tasks.length }),
            text: t('Running commands are stopped. Their logs, and what they have put out so far, are kept.'),
            confirmLabel: t('Cancel the tasks'),
            cancelLabel: t('Back'),
            names: tasks.map(({ ordinal, title }) => `#${ordinal} ${title}`),
          }),
          success: (count) => t('{{count}} tasks are being canceled', { count }),
        },
      },
    ],
    ['task/', 'project/', 'docker-container/'],
  );

  function whatIsKept({ outputPath }: Task): string {
    return t(
      'Its command is stopped. Its log is kept, and the files in {{path}} are still stored. Other files in the container are lost.',
      { path: outputPath },
    );
  }
}

export const hasEnded = ({ status }: Pick<Task, 'status'>): boolean => TASK_ENDED.includes(status);
