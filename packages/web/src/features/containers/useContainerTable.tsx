import type { Container } from '@stagi/contract/containers.ts';
import { IconBox } from '@tabler/icons-react';
import { Link } from 'react-router';
import { useT } from '../../i18n/i18n.ts';
import type { ListTableProps } from '../../lists/ListTable.tsx';
import type { ListOf } from '../../lists/useList.ts';
import { paths } from '../../paths.ts';
import { useContainerActions } from './useContainerActions.tsx';
import { useContainerColumns } from './useContainerColumns.tsx';

/** What a list of containers shows, those of one server or all of them, for a `ListTable` or a `ListPage`. */
export function useContainerTable(list: ListOf<Container>, { withServer }: { withServer: boolean }) {
  const t = useT();
  return {
    list,
    search: t('Search containers'),
    name: withServer ? 'containers' : 'server-containers',
    rowTestId: 'container-row',
    columns: useContainerColumns(withServer, list.table.rows),
    rowKey: ({ id }) => id,
    rowName: ({ title }) => title,
    rowLink: ({ id }, cell) => <Link to={paths.container(id)}>{cell}</Link>,
    actions: useContainerActions(),
    noMatches: {
      title: t('No container matches'),
      text: t('To see deleted containers, filter by that status.'),
    },
    empty: {
      icon: <IconBox size={20} />,
      title: t('No containers yet'),
      text: t('Take any image, give it CPUs and ports, and watch its output live.'),
    },
  } satisfies Omit<ListTableProps<Container>, 'label'>;
}
