import type { Container } from '@stagi/contract/containers.ts';
import { runName } from '@stagi/contract/taskRules.ts';
import type { ReactNode } from 'react';
import { Link } from 'react-router';
import { useHasPermission } from '../../api/user.ts';
import { useT } from '../../i18n/i18n.ts';
import { paths } from '../../paths.ts';
import { Tag } from '../../ui/Tag.tsx';
import classes from './Containers.module.css';

interface Props {
  task: NonNullable<Container['task']>;
}

/** Says of which task a container is a run, beside its title. */
export function TaskMark({ task }: Props) {
  const t = useT();
  return (
    <ToTask task={task}>
      <Tag>{t('Task #{{number}}, run {{run}}', { number: task.ordinal, run: task.run })}</Tag>
    </ToTask>
  );
}

/** The same for a cell of a column that says “Task”. */
export function TaskCell({ task }: Props) {
  return (
    <ToTask task={task}>
      <span className="mono">
        #{task.ordinal} {runName(task.run)}
      </span>
    </ToTask>
  );
}

/** A link, where the person's role opens tasks. */
function ToTask({ task: { id, title }, children }: Props & { children: ReactNode }) {
  const mayOpen = useHasPermission('RUNNING_TASKS');
  return (
    <span className={classes.task} data-testid="container-task">
      {mayOpen ? (
        <Link to={paths.task(id)} title={title} className="quiet-link">
          {children}
        </Link>
      ) : (
        children
      )}
    </span>
  );
}
