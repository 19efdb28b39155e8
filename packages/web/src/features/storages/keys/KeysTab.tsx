import { api } from '@stagi/contract/api.ts';
import { storageCan } from '@stagi/contract/storageRules.ts';
import type { Storage, StorageKey } from '@stagi/contract/storages.ts';
import { text } from '@stagi/contract/text.ts';
import { IconKey, IconPlus, IconRefresh, IconTrash } from '@tabler/icons-react';
import { useState } from 'react';
import { call } from '../../../api/client.ts';
import { useT } from '../../../i18n/i18n.ts';
import { ListTable } from '../../../lists/ListTable.tsx';
import { useList } from '../../../lists/useList.ts';
import { useListState } from '../../../lists/useListState.ts';
import { useRowActions } from '../../../lists/useRowActions.tsx';
import { ActionButton } from '../../../ui/actions.tsx';
import { KeyDialog } from './KeyDialog.tsx';
import { useKeyColumns } from './useKeyColumns.tsx';

/** No event reports the last use. */
const REFETCH_MS = 30_000;

export function KeysTab({ storage }: { storage: Storage }) {
  const t = useT();
  const { id } = storage;
  const state = useListState();
  const list = useList(api.storages.keys, { id, entityFilterRequest: state.request }, state, REFETCH_MS);
  const [makes, setMakes] = useState<'create' | StorageKey | null>(null);
  const columns = useKeyColumns();
  const actions = useRowActions<StorageKey>(
    [
      {
        name: 'rotate',
        label: t('Rotate'),
        icon: IconRefresh,
        can: ({ replacedBy }) =>
          replacedBy === null
            ? storageCan.read(storage)
            : { allowed: false, reason: text('This key has been rotated already') },
        open: setMakes,
      },
      {
        name: 'revoke',
        label: t('Revoke'),
        icon: IconTrash,
        danger: true,
        perform: ({ id: keyId }, options) => call(api.storages.revokeKey, { id, keyId }, options),
        confirm: ({ title }) => ({
          title: t('Revoke the key “{{title}}”?', { title }),
          text: t('What uses it stops working at once, and so do the presigned URLs made with it.'),
        }),
        success: () => t('The key has been revoked'),
      },
    ],
    ['storage/key/'],
  );
  return (
    <>
      <ListTable
        label={t('Keys')}
        list={list}
        search={t('Search keys')}
        create={
          <ActionButton
            tone="primary"
            icon={<IconPlus size={16} />}
            verdict={storageCan.read(storage)}
            testId="key-create"
            onClick={() => setMakes('create')}
          >
            {t('Create a key')}
          </ActionButton>
        }
        name="storage-keys"
        rowTestId="key-row"
        columns={columns}
        rowKey={(key) => key.id}
        rowName={({ title }) => title}
        actions={actions}
        noMatches={{ title: t('No key matches'), text: t('Try other words.') }}
        empty={{
          icon: <IconKey size={20} />,
          title: t('No keys yet'),
          text: t('A key lets S3 tools and programs use this bucket.'),
        }}
      />
      <KeyDialog storage={storage} makes={makes} onClose={() => setMakes(null)} />
    </>
  );
}
