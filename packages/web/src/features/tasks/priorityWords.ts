import type { TaskPriority } from '@stagi/contract/taskRules.ts';
import type { T } from '../../i18n/i18n.ts';

export function priorityWord(t: T, priority: TaskPriority): string {
  switch (priority) {
    case 'low':
      return t('Low');
    case 'normal':
      return t('Normal');
    case 'high':
      return t('High');
  }
}
