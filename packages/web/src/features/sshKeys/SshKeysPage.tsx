import { api } from '@stagi/contract/api.ts';
import type { SshKey } from '@stagi/contract/sshKeys.ts';
import type { Verdict } from '@stagi/contract/verdict.ts';
import { IconKey, IconPlus, IconTrash } from '@tabler/icons-react';
import { useState } from 'react';
import { call } from '../../api/client.ts';
import { useHasPermission } from '../../api/user.ts';
import { useT } from '../../i18n/i18n.ts';
import { ListPage } from '../../lists/ListPage.tsx';
import { useList } from '../../lists/useList.ts';
import { useListState } from '../../lists/useListState.ts';
import { useRowActions } from '../../lists/useRowActions.tsx';
import { ActionButton } from '../../ui/actions.tsx';
import { CopyButton } from '../../ui/CopyButton.tsx';
import { CutText } from '../../ui/CutText.tsx';
import { timeColumn } from '../../ui/table/columns.tsx';
import type { Column } from '../../ui/table/tableTypes.ts';
import { SshKeyDialog } from './SshKeyDialog.tsx';
import classes from './SshKeysPage.module.css';

export function SshKeysPage() {
  const t = useT();
  const state = useListState();
  const list = useList(api.sshKeys.list, { entityFilterRequest: state.request }, state);
  const verdict: Verdict = useHasPermission('SSH_KEY_MANAGEMENT')
    ? { allowed: true }
    : { allowed: false, reason: t('Your role in this workspace does not include SSH keys') };
  const actions = useKeyActions(verdict);
  const [adding, setAdding] = useState(false);

  return (
    <ListPage
      title={t('SSH keys')}
      about={t('Use SSH keys to log in to the servers you rent. Keys belong to you and work in all your workspaces.')}
      create={
        <ActionButton
          tone="primary"
          icon={<IconPlus size={16} />}
          verdict={verdict}
          testId="ssh-key-add"
          onClick={() => setAdding(true)}
        >
          {t('Add SSH key')}
        </ActionButton>
      }
      list={list}
      search={t('Search keys')}
      name="ssh-keys"
      rowTestId="ssh-key-row"
      columns={columns()}
      rowKey={({ id }) => id}
      rowName={({ title }) => title}
      actions={actions}
      noMatches={{ title: t('No key matches'), text: t('Try other words.') }}
      empty={{
        icon: <IconKey size={20} />,
        title: t('No SSH keys yet'),
        text: t('You need one to rent a server. Paste your public key, or generate a new key.'),
      }}
    >
      <SshKeyDialog opened={adding} onClose={() => setAdding(false)} />
    </ListPage>
  );

  function columns(): Column<SshKey>[] {
    return [
      {
        key: 'title',
        title: t('Title'),
        sortBy: 'title',
        cell: (key) => <CutText className={classes.title}>{key.title}</CutText>,
      },
      { key: 'type', title: t('Type'), sortBy: 'type', cell: (key) => <span className="mono">{key.type}</span> },
      {
        key: 'fingerprint',
        title: t('Fingerprint'),
        cell: (key) => (
          <span className={classes.fingerprint}>
            <span className="mono" title={key.fingerprint}>
              {key.fingerprint}
            </span>
            <CopyButton value={key.publicKey} label={t('Copy the key')} />
          </span>
        ),
      },
      {
        key: 'instances',
        title: t('Servers with access'),
        align: 'right',
        cell: (key) =>
          key.instanceCount === 0 ? (
            <span className="muted">—</span>
          ) : (
            t('{{count}} servers', { count: key.instanceCount })
          ),
      },
      timeColumn('createdAt', t('Added')),
    ];
  }
}

function useKeyActions(verdict: Verdict) {
  const t = useT();
  return useRowActions<SshKey>(
    [
      {
        name: 'delete',
        label: t('Delete'),
        icon: IconTrash,
        danger: true,
        can: () => verdict,
        perform: ({ id }, options) => call(api.sshKeys.delete, { id }, options),
        confirm: ({ title, instanceCount }) => ({
          title: t('Delete the SSH key “{{title}}”?', { title }),
          text: t('It is removed from every server it has access to. The key file on your own machine stays.'),
          lost:
            instanceCount > 0
              ? [t('Access with this key to {{count}} running servers', { count: instanceCount })]
              : undefined,
        }),
        success: () => t('The SSH key has been deleted'),
        many: {
          confirm: (keys) => ({
            title: t('Delete {{count}} SSH keys?', { count: keys.length }),
            text: t('They are removed from every server they have access to. The key files on your own machine stay.'),
            names: keys.map(({ title }) => title),
          }),
          success: (count) => t('{{count}} SSH keys have been deleted', { count }),
        },
      },
    ],
    ['ssh-key/', 'instance-rented/ssh-key/'],
  );
}
