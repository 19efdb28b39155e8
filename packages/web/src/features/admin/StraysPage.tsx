import { api } from '@stagi/contract/api.ts';
import type { Stray } from '@stagi/contract/strays.ts';
import { IconCheck, IconHomePlus, IconTrash } from '@tabler/icons-react';
import { useState } from 'react';
import { useT } from '../../i18n/i18n.ts';
import { text } from '../../i18n/text.ts';
import { useList } from '../../layouts/useList.ts';
import { useListState } from '../../layouts/useListState.ts';
import { ActionMenu, type Verdict } from '../../ui/actions.tsx';
import { DataTable } from '../../ui/DataTable.tsx';
import { EmptyState } from '../../ui/EmptyState.tsx';
import { FilterMenu } from '../../ui/FilterMenu.tsx';
import { ListBar } from '../../ui/ListBar.tsx';
import { NoMatches } from '../../ui/NoMatches.tsx';
import { PageHeader } from '../../ui/PageHeader.tsx';
import { SearchBox } from '../../ui/SearchBox.tsx';
import { AdoptStray } from './AdoptStray.tsx';
import { DeleteStray } from './DeleteStray.tsx';
import { STRAY_REASONS, useStrayColumns } from './useStrayColumns.tsx';

/** Clouds are swept once a minute, which no event announces. */
const READ_AGAIN_MS = 10_000;

const DECIDED: Verdict = { allowed: false, reason: text('Somebody has decided about this machine already') };

/** Machines at clouds that no server owns: adopt them or have them deleted. */
export function StraysPage() {
  const t = useT();
  const list = useListState();
  const strays = useList(api.strays.list, { entityFilterRequest: list.request }, list, READ_AGAIN_MS);
  const columns = useStrayColumns();
  const [adopting, setAdopting] = useState<Stray | null>(null);
  const [deleting, setDeleting] = useState<Stray | null>(null);
  const some = list.narrowed || (strays.table.rows?.length ?? 0) > 0;
  const verdictOf = ({ decision }: Stray): Verdict => (decision === null ? { allowed: true } : DECIDED);
  const mayAdopt = (stray: Stray): Verdict =>
    stray.decision === null && stray.state === 'error'
      ? { allowed: false, reason: t('This machine is broken: it can only be deleted') }
      : verdictOf(stray);

  return (
    <>
      <PageHeader title={t('Strays')}>
        {t('Machines of ours at clouds that no server of a workspace owns. They cost money until they are gone.')}
      </PageHeader>
      {some && (
        <ListBar>
          <SearchBox value={list.search} onChange={list.setSearch} placeholder={t('Search by name, cloud id or IP')} />
          <FilterMenu
            label={t('Reason')}
            options={Object.entries(STRAY_REASONS).map(([value, { word }]) => ({ value, label: t(word) }))}
            value={list.statuses}
            onChange={list.setStatuses}
          />
        </ListBar>
      )}
      <DataTable
        {...strays.table}
        label={t('Strays')}
        name="admin-strays"
        rowTestId="stray-row"
        columns={columns}
        rowKey={({ id }) => id}
        sort={list.sort}
        onSort={list.setSort}
        rowActions={(stray) => (
          <ActionMenu
            label={t('Actions for {{title}}', { title: stray.name })}
            actions={[
              {
                label: t('Adopt'),
                icon: <IconHomePlus size={16} />,
                verdict: mayAdopt(stray),
                testId: 'action-adopt',
                onClick: () => setAdopting(stray),
              },
              {
                label: t('Delete'),
                icon: <IconTrash size={16} />,
                danger: true,
                verdict: verdictOf(stray),
                testId: 'action-delete',
                onClick: () => setDeleting(stray),
              },
            ]}
          />
        )}
        empty={
          list.narrowed ? (
            <NoMatches title={t('No machine matches')} onClear={list.clear}>
              {t('Try other words or reasons.')}
            </NoMatches>
          ) : (
            <EmptyState icon={<IconCheck size={20} />} title={t('Every machine has its server')}>
              {t('Clouds are compared with the servers every minute. What belongs to nobody is listed here.')}
            </EmptyState>
          )
        }
      />
      <AdoptStray stray={adopting} onClose={() => setAdopting(null)} />
      <DeleteStray stray={deleting} onClose={() => setDeleting(null)} />
    </>
  );
}
