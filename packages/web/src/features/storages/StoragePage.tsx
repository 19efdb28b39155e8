import { Skeleton } from '@mantine/core';
import { api } from '@stagi/contract/api.ts';
import type { Storage } from '@stagi/contract/storages.ts';
import { Suspense } from 'react';
import { useNavigate } from 'react-router';
import { useT } from '../../i18n/i18n.ts';
import { DetailPage, DetailTabs } from '../../layouts/DetailPage.tsx';
import { lazyComponent } from '../../lazyChunks.ts';
import { paths } from '../../paths.ts';
import { Tag } from '../../ui/Tag.tsx';
import { StorageOverview } from './overview/StorageOverview.tsx';
import { useStorageActions } from './useStorageActions.tsx';

const REFETCH_MS = 10_000;
const REFETCH_IN_TRANSITION_MS = 1_500;

// Code of their own: the overview does not wait for it.
const KeysTab = lazyComponent(async () => (await import('./keys/KeysTab.tsx')).KeysTab);
const ObjectsTab = lazyComponent(async () => (await import('./objects/ObjectsTab.tsx')).ObjectsTab);

export function StoragePage() {
  return (
    <DetailPage
      view={api.storages.view}
      everyMs={(storage) => (isInTransition(storage) ? REFETCH_IN_TRANSITION_MS : REFETCH_MS)}
    >
      {(storage) => <Loaded storage={storage} />}
    </DetailPage>
  );
}

const isInTransition = (storage: Storage | undefined): boolean =>
  storage?.status === 'renting' || storage?.status === 'terminating';

function Loaded({ storage }: { storage: Storage }) {
  const t = useT();
  const navigate = useNavigate();
  const { id } = storage;
  const actions = useStorageActions({ onDeleted: () => void navigate(paths.storages()) });
  return (
    <>
      <DetailTabs
        // The platform knows the status itself: no report stands behind it.
        entity={{ ...storage, statusSeenAt: null }}
        statusTestId="storage-status"
        besideTitle={storage.kind === 'log' && <Tag>{t('Log bucket')}</Tag>}
        actions={actions.of(storage)}
        label={t('Storage')}
        tabs={[
          {
            name: 'overview',
            label: t('Overview'),
            to: paths.storage(id),
            end: true,
            body: <StorageOverview storage={storage} />,
          },
          {
            name: 'objects',
            label: t('Objects'),
            to: paths.storage(id, 'objects'),
            body: (
              <Suspense fallback={<Skeleton height={240} />}>
                <ObjectsTab key={id} storage={storage} />
              </Suspense>
            ),
          },
          {
            name: 'keys',
            label: t('Keys'),
            to: paths.storage(id, 'keys'),
            body: (
              <Suspense fallback={<Skeleton height={240} />}>
                <KeysTab key={id} storage={storage} />
              </Suspense>
            ),
          },
        ]}
      />
      {actions.dialog}
    </>
  );
}
