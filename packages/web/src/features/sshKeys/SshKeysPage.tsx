import { api } from '@stagi/contract/api.ts';
import type { SshKey } from '@stagi/contract/sshKeys.ts';
import { IconKey, IconPlus, IconTrash } from '@tabler/icons-react';
import { useState } from 'react';
import { invalidate } from '../../api/query.ts';
import { useBulkCall } from '../../api/useBulkCall.ts';
import { useCall } from '../../api/useCall.ts';
import { useMay } from '../../api/user.ts';
import { useT } from '../../i18n/i18n.ts';
import { useList } from '../../layouts/useList.ts';
import { useListState } from '../../layouts/useListState.ts';
import { ActionButton, ActionMenu } from '../../ui/actions.tsx';
import { ConfirmMany } from '../../ui/ConfirmMany.tsx';
import { CopyButton } from '../../ui/CopyButton.tsx';
import { type Column, DataTable } from '../../ui/DataTable.tsx';
import { ConfirmDialog } from '../../ui/dialogs/ConfirmDialog.tsx';
import { EmptyState } from '../../ui/EmptyState.tsx';
import { ListBar } from '../../ui/ListBar.tsx';
import { NoMatches } from '../../ui/NoMatches.tsx';
import { PageHeader } from '../../ui/PageHeader.tsx';
import { SearchBox } from '../../ui/SearchBox.tsx';
import { DateTime } from '../../ui/Time.tsx';
import { toast } from '../../ui/toasts.ts';
import { SshKeyDialog } from './SshKeyDialog.tsx';
import classes from './SshKeysPage.module.css';

export function SshKeysPage() {
  const t = useT();
  const list = useListState();
  const keys = useList(api.sshKeys.list, { entityFilterRequest: list.request }, list);
  // While all are read after a search for some, it is not known that there are none.
  const some = list.narrowed || keys.table.stale || (keys.table.rows?.length ?? 0) > 0;
  const mayManage = useMay('SSH_KEY_MANAGEMENT');
  const [adding, setAdding] = useState(false);
  const [deleting, setDeleting] = useState<SshKey | null>(null);
  const [deletingMany, setDeletingMany] = useState<readonly SshKey[]>([]);
  const [askedMany, setAskedMany] = useState(false);

  const verdict = mayManage
    ? ({ allowed: true } as const)
    : ({ allowed: false, reason: t('Your role in this workspace does not include SSH keys') } as const);
  const add = (
    <ActionButton
      tone="primary"
      icon={<IconPlus size={16} />}
      verdict={verdict}
      testId="ssh-key-add"
      onClick={() => setAdding(true)}
    >
      {t('Add SSH key')}
    </ActionButton>
  );

  return (
    <>
      <PageHeader title={t('SSH keys')} actions={some ? add : undefined}>
        {t('A server that you rent lets in the key you choose. Keys are yours and work in all your workspaces.')}
      </PageHeader>
      {some && (
        <ListBar>
          <SearchBox value={list.search} onChange={list.setSearch} placeholder={t('Search keys')} />
        </ListBar>
      )}
      <DataTable
        {...keys.table}
        label={t('SSH keys')}
        name="ssh-keys"
        rowName={({ title }) => title}
        bulk={[
          {
            label: t('Delete'),
            icon: <IconTrash size={14} />,
            danger: true,
            testId: 'bulk-delete',
            verdict: () => verdict,
            onClick: (rows) => {
              setDeletingMany(rows);
              setAskedMany(true);
            },
          },
        ]}
        rowTestId="ssh-key-row"
        columns={columns()}
        rowKey={(key) => key.id}
        sort={list.sort}
        onSort={list.setSort}
        rowActions={(key) => (
          <ActionMenu
            label={t('Actions for {{title}}', { title: key.title })}
            actions={[
              {
                label: t('Delete'),
                icon: <IconTrash size={16} />,
                danger: true,
                verdict,
                testId: 'action-delete',
                onClick: () => setDeleting(key),
              },
            ]}
          />
        )}
        empty={
          list.narrowed ? (
            <NoMatches title={t('No key matches')} onClear={list.clear}>
              {t('Try other words.')}
            </NoMatches>
          ) : (
            <EmptyState icon={<IconKey size={20} />} title={t('No SSH keys yet')} action={add}>
              {t('You need one to rent a server. Paste the public key you have, or let us make a pair.')}
            </EmptyState>
          )
        }
      />
      <SshKeyDialog opened={adding} onClose={() => setAdding(false)} />
      <DeleteKey sshKey={deleting} onClose={() => setDeleting(null)} />
      <DeleteKeys sshKeys={deletingMany} opened={askedMany} onClose={() => setAskedMany(false)} />
    </>
  );

  function columns(): Column<SshKey>[] {
    return [
      {
        key: 'title',
        title: t('Title'),
        sortBy: 'title',
        cell: (key) => <span className={classes.title}>{key.title}</span>,
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
        title: t('Lets in at'),
        align: 'right',
        cell: (key) =>
          key.instanceCount === 0 ? (
            <span className="muted">—</span>
          ) : (
            t('{{count}} servers', { count: key.instanceCount })
          ),
      },
      {
        key: 'createdAt',
        title: t('Added'),
        sortBy: 'createdAt',
        align: 'right',
        cell: (key) => <DateTime at={key.createdAt} />,
      },
    ];
  }
}

function DeleteKey({ sshKey, onClose }: { sshKey: SshKey | null; onClose(): void }) {
  const t = useT();
  const { run, loading } = useCall(api.sshKeys.delete, {
    onDone: () => {
      void invalidate('ssh-key/', 'instance-rented/ssh-key/');
      toast.success(t('The SSH key has been deleted'));
      onClose();
    },
  });
  const affected = sshKey?.instanceCount ?? 0;
  return (
    <ConfirmDialog
      variant="error"
      opened={sshKey !== null}
      onClose={onClose}
      onConfirm={() => sshKey && void run({ id: sshKey.id })}
      title={t('Delete the SSH key “{{title}}”?', { title: sshKey?.title ?? '' })}
      lost={affected > 0 ? [t('Access with this key to {{count}} running servers', { count: affected })] : undefined}
      confirmLabel={t('Delete')}
      loading={loading}
    >
      {t('It is taken off every server that lets it in. The key file on your own machine stays.')}
    </ConfirmDialog>
  );
}

interface DeleteKeysProps {
  sshKeys: readonly SshKey[];
  opened: boolean;
  onClose(): void;
}

function DeleteKeys({ sshKeys, opened, onClose }: DeleteKeysProps) {
  const t = useT();
  const remove = useBulkCall(api.sshKeys.delete, {
    touches: ['ssh-key/', 'instance-rented/ssh-key/'],
    said: (count) => t('{{count}} SSH keys have been deleted', { count }),
  });

  async function confirm(): Promise<void> {
    await remove.run(sshKeys.map(({ id }) => ({ id })));
    onClose();
  }

  return (
    <ConfirmMany
      opened={opened}
      onClose={onClose}
      onConfirm={() => void confirm()}
      loading={remove.loading}
      title={t('Delete {{count}} SSH keys?', { count: sshKeys.length })}
      confirmLabel={t('Delete')}
      names={sshKeys.map(({ title }) => title)}
    >
      {t('They are taken off every server that lets them in. The key files on your own machine stay.')}
    </ConfirmMany>
  );
}
