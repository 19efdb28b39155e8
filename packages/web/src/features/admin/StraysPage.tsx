import { api } from '@stagi/contract/api.ts';
import type { Stray } from '@stagi/contract/strays.ts';
import { text } from '@stagi/contract/text.ts';
import type { Verdict } from '@stagi/contract/verdict.ts';
import { IconCheck, IconHomePlus, IconTrash } from '@tabler/icons-react';
import { useState } from 'react';
import { call } from '../../api/client.ts';
import { useT } from '../../i18n/i18n.ts';
import { ListPage } from '../../lists/ListPage.tsx';
import { useList } from '../../lists/useList.ts';
import { useListState } from '../../lists/useListState.ts';
import { useRowActions } from '../../lists/useRowActions.tsx';
import { FilterMenu } from '../../ui/table/FilterMenu.tsx';
import { AdoptStray } from './AdoptStray.tsx';
import { STRAY_REASONS, useStrayColumns } from './useStrayColumns.tsx';

/** Nothing announces a sweep of the clouds. */
const REFETCH_MS = 10_000;

const DECIDED = text('Somebody has already decided about this machine');

/** Machines at clouds that no server owns: adopt them or have them deleted. */
export function StraysPage() {
  const t = useT();
  const state = useListState();
  const list = useList(api.strays.list, { entityFilterRequest: state.request }, state, REFETCH_MS);
  const columns = useStrayColumns();
  const [adopting, setAdopting] = useState<Stray | null>(null);
  const actions = useStrayActions(setAdopting);

  return (
    <ListPage
      title={t('Strays')}
      about={t('Our machines at clouds that belong to no server. They cost money until they are deleted.')}
      list={list}
      search={t('Search by name, cloud id or IP')}
      filters={
        <FilterMenu
          label={t('Reason')}
          options={Object.entries(STRAY_REASONS).map(([value, { word }]) => ({ value, label: t(word) }))}
          value={state.statuses}
          onChange={state.setStatuses}
        />
      }
      name="admin-strays"
      rowTestId="stray-row"
      columns={columns}
      rowKey={({ id }) => id}
      rowName={({ name }) => name}
      actions={actions}
      noMatches={{ title: t('No machine matches'), text: t('Try other words or reasons.') }}
      empty={{
        icon: <IconCheck size={20} />,
        title: t('No stray machines'),
        text: t('Clouds are checked every few minutes. Machines that belong to no server appear here.'),
      }}
    >
      <AdoptStray stray={adopting} onClose={() => setAdopting(null)} />
    </ListPage>
  );
}

function useStrayActions(adopt: (stray: Stray) => void) {
  const t = useT();
  const undecided = ({ decision }: Stray): Verdict =>
    decision === null ? { allowed: true } : { allowed: false, reason: DECIDED };
  return useRowActions<Stray>(
    [
      {
        name: 'adopt',
        label: t('Adopt'),
        icon: IconHomePlus,
        can: (stray) =>
          stray.decision === null && stray.state === 'error'
            ? { allowed: false, reason: t('This machine is broken: it can only be deleted') }
            : undecided(stray),
        open: adopt,
      },
      {
        name: 'delete',
        label: t('Delete'),
        icon: IconTrash,
        danger: true,
        can: undecided,
        perform: ({ id }, options) => call(api.strays.delete, { id }, options),
        confirm: ({ name, providerTitle }) => ({
          title: t('Delete “{{title}}”?', { title: name }),
          text: t('The quarantine is skipped.'),
          lost: [t('The machine at {{provider}} and everything on its disks', { provider: t(providerTitle) })],
          typeSlug: name,
        }),
        success: () => t('The machine will be deleted at the next check of its cloud'),
      },
    ],
    ['admin/'],
  );
}
