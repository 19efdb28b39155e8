import type { Container } from '@stagi/contract/containers.ts';
import { Link } from 'react-router';
import { useHasPermission } from '../../api/user.ts';
import { useT } from '../../i18n/i18n.ts';
import { paths } from '../../paths.ts';
import { Tag } from '../../ui/Tag.tsx';

/** Says of which task a container is a run: a link, where the person's role opens tasks. */
export function TaskMark({ task: { id, ordinal, title, run } }: { task: NonNullable<Container['task']> }) {
  const t = useT();
  const mayOpen = useHasPermission('RUNNING_TASKS');
  const mark = <Tag>{t('Task #{{number}}, run {{run}}', { number: ordinal, run })}</Tag>;
  return (
    <span data-testid="container-task">
      {mayOpen ? (
        <Link to={paths.task(id)} title={title}>
          {mark}
        </Link>
      ) : (
        mark
      )}
    </span>
  );
}
