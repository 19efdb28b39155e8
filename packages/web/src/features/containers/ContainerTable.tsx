import type { containers as calls } from '@stagi/contract/containers.ts';
import { IconBox } from '@tabler/icons-react';
import type { ReactNode } from 'react';
import { Link } from 'react-router';
import { useT } from '../../i18n/i18n.ts';
import type { List } from '../../layouts/useList.ts';
import type { ListState } from '../../layouts/useListState.ts';
import { paths } from '../../paths.ts';
import { ActionMenu } from '../../ui/actions.tsx';
import { DataTable } from '../../ui/DataTable.tsx';
import { EmptyState } from '../../ui/EmptyState.tsx';
import { NoMatches } from '../../ui/NoMatches.tsx';
import { useContainerColumns } from './columns.tsx';
import { useContainerActions } from './useContainerActions.tsx';
import { useContainerBulk } from './useContainerBulk.tsx';

interface Props {
  containers: List<typeof calls.list>;
  list: ListState;
  /** Shows which server each runs on. */
  withServer?: boolean;
  /** The button that makes another. */
  create: ReactNode;
}

export function ContainerTable({ containers, list, withServer = false, create }: Props) {
  const t = useT();
  const actions = useContainerActions();
  const bulk = useContainerBulk(actions);
  const columns = useContainerColumns(withServer);
  return (
    <>
      <DataTable
        {...containers.table}
        label={t('Containers')}
        name={withServer ? 'containers' : 'server-containers'}
        rowTestId="container-row"
        columns={columns}
        rowKey={(container) => container.id}
        rowLink={(container, cell) => <Link to={paths.container(container.id)}>{cell}</Link>}
        rowActions={(container) => (
          <ActionMenu
            label={t('Actions for {{title}}', { title: container.title })}
            actions={() => actions.of(container)}
          />
        )}
        rowName={({ title }) => title}
        bulk={bulk.actions}
        sort={list.sort}
        onSort={list.setSort}
        empty={
          list.narrowed ? (
            <NoMatches title={t('No container matches')} onClear={list.clear}>
              {t('Deleted containers are listed only when you ask for that status.')}
            </NoMatches>
          ) : (
            <EmptyState icon={<IconBox size={20} />} title={t('No containers yet')} action={create}>
              {t('Take any image, give it CPUs and ports, and watch its output live.')}
            </EmptyState>
          )
        }
      />
      {actions.dialog}
      {bulk.dialog}
    </>
  );
}
