import { api } from '@stagi/contract/api.ts';
import type { TaskSchedule } from '@stagi/contract/taskSchedules.ts';
import { IconEdit, IconPlayerPause, IconPlayerPlay, IconTrash } from '@tabler/icons-react';
import { useNavigate } from 'react-router';
import { call } from '../../../api/client.ts';
import { useT } from '../../../i18n/i18n.ts';
import { type RowActions, useRowActions } from '../../../lists/useRowActions.tsx';
import { paths } from '../../../paths.ts';

export function useScheduleActions(): RowActions<TaskSchedule> {
  const t = useT();
  const navigate = useNavigate();
  return useRowActions<TaskSchedule>(
    [
      {
        name: 'pause',
        label: t('Pause'),
        icon: IconPlayerPause,
        shown: ({ isPaused }) => !isPaused,
        perform: ({ id }, options) => call(api.tasks.editSchedule, { id, isPaused: true }, options),
        success: ({ title }) => t('“{{title}}” is paused', { title }),
      },
      {
        name: 'resume',
        label: t('Resume'),
        icon: IconPlayerPlay,
        shown: ({ isPaused }) => isPaused,
        perform: ({ id }, options) => call(api.tasks.editSchedule, { id, isPaused: false }, options),
        success: ({ title }) => t('“{{title}}” goes on', { title }),
      },
      {
        name: 'edit',
        label: t('Edit'),
        icon: IconEdit,
        open: ({ id }) => void navigate(paths.newTask({ schedule: id })),
      },
      {
        name: 'delete',
        label: t('Delete'),
        icon: IconTrash,
        danger: true,
        perform: ({ id }, options) => call(api.tasks.deleteSchedule, { id }, options),
        confirm: ({ title }) => ({
          title: t('Delete the schedule “{{title}}”?', { title }),
          text: t('It starts no more tasks. Those it has started stay.'),
        }),
        success: () => t('The schedule has been deleted'),
      },
    ],
    ['task/'],
  );
}
