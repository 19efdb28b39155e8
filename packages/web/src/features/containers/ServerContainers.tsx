import { api } from '@stagi/contract/api.ts';
import { containerCan } from '@stagi/contract/containerRules.ts';
import { IconPlus } from '@tabler/icons-react';
import { Suspense } from 'react';
import { useNavigate } from 'react-router';
import type { ServerContainersProps } from '../../featureSlots.ts';
import { useT } from '../../i18n/i18n.ts';
import { lazyComponent } from '../../lazyChunks.ts';
import { ListTable } from '../../lists/ListTable.tsx';
import { useList } from '../../lists/useList.ts';
import { useListState } from '../../lists/useListState.ts';
import { paths } from '../../paths.ts';
import { ActionButton } from '../../ui/actions.tsx';
import { useContainerTable } from './useContainerTable.tsx';

const REFETCH_MS = 10_000;

const LazyServerImages = lazyComponent(async () => (await import('./images/ServerImages.tsx')).ServerImages);

/** The images of one server, for its own page, which does not wait for their code. */
export function ServerImages(props: ServerContainersProps) {
  return (
    <Suspense fallback={null}>
      <LazyServerImages {...props} />
    </Suspense>
  );
}

/** The containers of one server, for its own page, whose header has the button that creates another. */
export function ServerContainers({ server }: ServerContainersProps) {
  const t = useT();
  const navigate = useNavigate();
  const state = useListState();
  const input = { instanceRef: { id: server.id }, entityFilterRequest: state.request };
  const list = useList(api.containers.list, input, state, REFETCH_MS);
  const table = useContainerTable(list, { withServer: false });
  return (
    <ListTable
      label={t('Containers')}
      {...table}
      empty={{
        ...table.empty,
        action: (
          <ActionButton
            icon={<IconPlus size={16} />}
            testId="container-create-first"
            verdict={containerCan.create(server)}
            onClick={() => void navigate(paths.newContainer({ serverId: server.id }))}
          >
            {t('Create a container')}
          </ActionButton>
        ),
      }}
    />
  );
}
