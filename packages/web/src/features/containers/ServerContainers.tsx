import { api } from '@stagi/contract/api.ts';
import { IconPlus } from '@tabler/icons-react';
import { useNavigate } from 'react-router';
import { useT } from '../../i18n/i18n.ts';
import { text } from '../../i18n/text.ts';
import type { ServerContainersProps } from '../../layouts/slots.ts';
import { useList } from '../../layouts/useList.ts';
import { useListState } from '../../layouts/useListState.ts';
import { paths } from '../../paths.ts';
import { ActionButton } from '../../ui/actions.tsx';
import { ListBar } from '../../ui/ListBar.tsx';
import { SearchBox } from '../../ui/SearchBox.tsx';
import { ContainerTable } from './ContainerTable.tsx';

const REFETCH_MS = 10_000;
const OFFLINE = text('Containers can only be created for server instances that are online');

/** The containers of one server, for its own page. */
export function ServerContainers({ server }: ServerContainersProps) {
  const t = useT();
  const navigate = useNavigate();
  const list = useListState();
  const input = { instanceRef: { id: server.id }, entityFilterRequest: list.request };
  const containers = useList(api.containers.list, input, list, REFETCH_MS);
  const some = list.narrowed || (containers.table.rows?.length ?? 1) > 0;
  const create = (
    <ActionButton
      tone="primary"
      icon={<IconPlus size={16} />}
      testId="container-create"
      verdict={server.status === 'online' ? { allowed: true } : { allowed: false, reason: OFFLINE }}
      onClick={() => void navigate(paths.newContainer(server.id))}
    >
      {t('Create a container')}
    </ActionButton>
  );
  return (
    <>
      {some && (
        <ListBar end={create}>
          <SearchBox value={list.search} onChange={list.setSearch} placeholder={t('Search containers')} />
        </ListBar>
      )}
      <ContainerTable containers={containers} list={list} create={create} />
    </>
  );
}
