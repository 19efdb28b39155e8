import { api } from '@stagi/contract/api.ts';
import type { Instance, InstanceSshKey } from '@stagi/contract/instances.ts';
import { IconCheck, IconKey, IconTrash } from '@tabler/icons-react';
import { useState } from 'react';
import { invalidate } from '../../api/query.ts';
import { useBulkCall } from '../../api/useBulkCall.ts';
import { useCall } from '../../api/useCall.ts';
import { useT } from '../../i18n/i18n.ts';
import type { SshKeyDialogSlot } from '../../layouts/slots.ts';
import { useList } from '../../layouts/useList.ts';
import { useListState } from '../../layouts/useListState.ts';
import { ActionMenu } from '../../ui/actions.tsx';
import { ConfirmMany } from '../../ui/ConfirmMany.tsx';
import { type Column, DataTable } from '../../ui/DataTable.tsx';
import { ConfirmDialog } from '../../ui/dialogs/ConfirmDialog.tsx';
import { EmptyState } from '../../ui/EmptyState.tsx';
import { ListBar } from '../../ui/ListBar.tsx';
import { NoMatches } from '../../ui/NoMatches.tsx';
import { SearchBox } from '../../ui/SearchBox.tsx';
import { StatusBadge } from '../../ui/StatusBadge.tsx';
import { DateTime } from '../../ui/Time.tsx';
import { GiveAccess } from './GiveAccess.tsx';
import classes from './Instances.module.css';

const REFETCH_MS = 10_000;

/** Who gets in: the SSH keys that the server accepts, and those on their way to it. */
export function InstanceAccess({ instance, SshKeyDialog }: { instance: Instance; SshKeyDialog: SshKeyDialogSlot }) {
  const t = useT();
  const list = useListState();
  const input = { id: instance.id, entityFilterRequest: list.request };
  const keys = useList(api.instances.sshKeys, input, list, REFETCH_MS);
  const [removing, setRemoving] = useState<InstanceSshKey | null>(null);
  const [asked, setAsked] = useState(false);
  const remove = useCall(api.instances.removeSshKey, {
    onDone: () => {
      void invalidate('instance-rented/ssh-key/', 'ssh-key/');
      setAsked(false);
    },
  });
  const [removingMany, setRemovingMany] = useState<readonly InstanceSshKey[]>([]);
  const [askedMany, setAskedMany] = useState(false);
  const removeMany = useBulkCall(api.instances.removeSshKey, {
    touches: ['instance-rented/ssh-key/', 'ssh-key/'],
    said: (count) => t('{{count}} SSH keys are being removed', { count }),
  });
  const some = list.narrowed || keys.table.stale || (keys.table.rows?.length ?? 0) > 0;

  async function confirmMany(): Promise<void> {
    await removeMany.run(removingMany.map(({ id }) => ({ id: instance.id, sshKeyId: id })));
    setAskedMany(false);
  }

  const gone = instance.status === 'terminating' || instance.status === 'terminated';
  const give = (
    <GiveAccess
      instanceId={instance.id}
      letIn={keys.table.rows?.map(({ id }) => id) ?? []}
      SshKeyDialog={SshKeyDialog}
      verdict={gone ? { allowed: false, reason: t('This instance is being terminated already') } : { allowed: true }}
    />
  );

  return (
    <>
      {some && (
        <ListBar end={give}>
          <SearchBox value={list.search} onChange={list.setSearch} placeholder={t('Search keys')} />
        </ListBar>
      )}
      <DataTable
        {...keys.table}
        label={t('SSH keys')}
        name="access"
        rowTestId="access-row"
        columns={columns()}
        rowKey={(key) => key.id}
        rowActions={(key) => (
          <ActionMenu
            label={t('Actions for {{title}}', { title: key.title })}
            actions={[
              {
                label: t('Remove'),
                icon: <IconTrash size={16} />,
                danger: true,
                testId: 'action-remove',
                onClick: () => {
                  setRemoving(key);
                  setAsked(true);
                },
              },
            ]}
          />
        )}
        rowName={({ title }) => title}
        bulk={[
          {
            label: t('Remove'),
            icon: <IconTrash size={14} />,
            danger: true,
            testId: 'bulk-remove',
            verdict: () => ({ allowed: true }),
            onClick: (rows) => {
              setRemovingMany(rows);
              setAskedMany(true);
            },
          },
        ]}
        sort={list.sort}
        onSort={list.setSort}
        empty={
          list.narrowed ? (
            <NoMatches title={t('No key matches')} onClear={list.clear}>
              {t('Try other words.')}
            </NoMatches>
          ) : (
            <EmptyState icon={<IconKey size={20} />} title={t('Nobody can log in')} action={give}>
              {t('This server accepts no SSH key. Let one of yours in.')}
            </EmptyState>
          )
        }
      />
      <ConfirmDialog
        variant="error"
        opened={asked}
        onClose={() => setAsked(false)}
        onConfirm={() => removing && void remove.run({ id: instance.id, sshKeyId: removing.id })}
        title={t('Take “{{title}}” off this server?', { title: removing?.title ?? '' })}
        confirmLabel={t('Remove')}
        loading={remove.loading}
      >
        {t('{{owner}} can no longer log in with this key. Sessions that are open stay open.', {
          owner: removing?.owner ?? '',
        })}
        {keys.data?.totalCount === 1 && ` ${t('It is the last key: nobody will be able to log in.')}`}
      </ConfirmDialog>
      <ConfirmMany
        opened={askedMany}
        onClose={() => setAskedMany(false)}
        onConfirm={() => void confirmMany()}
        loading={removeMany.loading}
        title={t('Take {{count}} SSH keys off this server?', { count: removingMany.length })}
        confirmLabel={t('Remove')}
        names={removingMany.map(({ title, owner }) => `${title} (${owner})`)}
      >
        {t('Nobody can log in with them any more. Sessions that are open stay open.')}
        {keys.data?.totalCount === removingMany.length &&
          ` ${t('No key is left then: nobody will be able to log in.')}`}
      </ConfirmMany>
    </>
  );

  function columns(): Column<InstanceSshKey>[] {
    return [
      { key: 'title', title: t('Title'), sortBy: 'title', cell: (key) => key.title },
      { key: 'owner', title: t('Owner'), sortBy: 'owner', cell: (key) => key.owner },
      {
        key: 'fingerprint',
        title: t('Fingerprint'),
        cell: (key) => <span className="mono">{key.fingerprint}</span>,
        card: 'hidden',
      },
      {
        key: 'installed',
        title: t('State'),
        cell: (key) =>
          key.installedAt ? (
            <span className={classes.access}>
              <IconCheck size={14} color="var(--ok)" aria-hidden="true" />
              {t('Installed')} <DateTime at={key.installedAt} />
            </span>
          ) : (
            <StatusBadge status="pending" />
          ),
      },
    ];
  }
}
