import { api } from '@stagi/contract/api.ts';
import type { Instance, InstanceSshKey } from '@stagi/contract/instances.ts';
import { IconCheck, IconKey, IconTrash } from '@tabler/icons-react';
import { call } from '../../../api/client.ts';
import type { SshKeyDialogSlot } from '../../../featureSlots.ts';
import { useT } from '../../../i18n/i18n.ts';
import { ListTable } from '../../../lists/ListTable.tsx';
import { useList } from '../../../lists/useList.ts';
import { useListState } from '../../../lists/useListState.ts';
import { useRowActions } from '../../../lists/useRowActions.tsx';
import { CutText } from '../../../ui/CutText.tsx';
import { StatusBadge } from '../../../ui/StatusBadge.tsx';
import { DateTime } from '../../../ui/Time.tsx';
import type { Column } from '../../../ui/table/tableTypes.ts';
import classes from '../Instances.module.css';
import { AddAccess } from './AddAccess.tsx';

const REFETCH_MS = 10_000;

interface Props {
  instance: Instance;
  SshKeyDialog: SshKeyDialogSlot;
}

/** The SSH keys that a server accepts, and those that are being installed on it. */
export function RentedAccess({ instance, SshKeyDialog }: Props) {
  const t = useT();
  const state = useListState();
  const input = { id: instance.id, entityFilterRequest: state.request };
  const list = useList(api.instances.sshKeys, input, state, REFETCH_MS);
  const actions = useAccessActions(instance.id, list.data?.totalCount);
  const isGone = instance.status === 'terminating' || instance.status === 'terminated';
  return (
    <ListTable
      list={list}
      search={t('Search keys')}
      create={
        <AddAccess
          instanceId={instance.id}
          accepted={list.table.rows?.map(({ id }) => id) ?? []}
          SshKeyDialog={SshKeyDialog}
          verdict={
            isGone ? { allowed: false, reason: t('This instance is already being terminated') } : { allowed: true }
          }
        />
      }
      label={t('SSH keys')}
      name="access"
      rowTestId="access-row"
      columns={columns()}
      rowKey={({ id }) => id}
      rowName={({ title }) => title}
      actions={actions}
      noMatches={{ title: t('No key matches'), text: t('Try other words.') }}
      empty={{
        icon: <IconKey size={20} />,
        title: t('Nobody can log in'),
        text: t('No SSH key has access to this server. Add one of yours.'),
      }}
    />
  );

  function columns(): Column<InstanceSshKey>[] {
    return [
      { key: 'title', title: t('Title'), sortBy: 'title', cell: (key) => <CutText>{key.title}</CutText> },
      { key: 'owner', title: t('Owner'), sortBy: 'owner', cell: (key) => <CutText>{key.owner}</CutText> },
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

function useAccessActions(instanceId: number, totalCount: number | undefined) {
  const t = useT();
  return useRowActions<InstanceSshKey>(
    [
      {
        name: 'remove',
        label: t('Remove'),
        icon: IconTrash,
        danger: true,
        perform: ({ id }, options) => call(api.instances.removeSshKey, { id: instanceId, sshKeyId: id }, options),
        confirm: ({ title, owner }) => ({
          title: t('Remove “{{title}}” from this server?', { title }),
          text: [
            t('{{owner}} can no longer log in with this key. Open sessions stay open.', { owner }),
            totalCount === 1 && t('It is the last key: nobody will be able to log in.'),
          ]
            .filter(Boolean)
            .join(' '),
        }),
        many: {
          confirm: (keys) => ({
            title: t('Remove {{count}} SSH keys from this server?', { count: keys.length }),
            text: [
              t('Nobody can log in with them any more. Open sessions stay open.'),
              totalCount === keys.length && t('No keys will be left: nobody will be able to log in.'),
            ]
              .filter(Boolean)
              .join(' '),
            names: keys.map(({ title, owner }) => `${title} (${owner})`),
          }),
          success: (count) => t('{{count}} SSH keys are being removed', { count }),
        },
      },
    ],
    ['instance-rented/ssh-key/', 'ssh-key/'],
  );
}
