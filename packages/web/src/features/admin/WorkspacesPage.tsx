import type { AdminClient } from '@stagi/contract/adminClients.ts';
import { api } from '@stagi/contract/api.ts';
import { IconPlayerPlay, IconPlayerStop } from '@tabler/icons-react';
import { useState } from 'react';
import { Link } from 'react-router';
import { useT } from '../../i18n/i18n.ts';
import { PLAN_WORDS } from '../../i18n/planWords.ts';
import { text } from '../../i18n/text.ts';
import { useList } from '../../layouts/useList.ts';
import { useListState } from '../../layouts/useListState.ts';
import { usePanel } from '../../layouts/usePanel.ts';
import { type Action, ActionMenu, type Verdict } from '../../ui/actions.tsx';
import { DataTable } from '../../ui/DataTable.tsx';
import { FilterMenu, StatusFilter } from '../../ui/FilterMenu.tsx';
import { ListBar } from '../../ui/ListBar.tsx';
import { NoMatches } from '../../ui/NoMatches.tsx';
import { PageHeader } from '../../ui/PageHeader.tsx';
import { SearchBox } from '../../ui/SearchBox.tsx';
import { DisableWorkspace } from './DisableWorkspace.tsx';
import { EnableDialog } from './EnableDialog.tsx';
import { PLAN, PLANS, plansOf, WORKSPACE_FILTERS, workspacesInput } from './listInputs.ts';
import { useWorkspaceColumns } from './useWorkspaceColumns.tsx';
import { WorkspacePanel } from './WorkspacePanel.tsx';

const STATES: readonly AdminClient['state'][] = ['active', 'disabled', 'closed'];
const CLOSED = text('This workspace has been closed');

/** Every workspace, for operators: who is in it, what it has, and the way to shut it. */
export function WorkspacesPage() {
  const t = useT();
  const list = useListState({ filters: WORKSPACE_FILTERS });
  const workspaces = useList(api.adminClients.list, workspacesInput(list), list);
  const columns = useWorkspaceColumns();
  const panel = usePanel('workspace');
  const [disabling, setDisabling] = useState<AdminClient | null>(null);
  const [enabling, setEnabling] = useState<AdminClient | null>(null);

  const actionsOf = (workspace: AdminClient): Action[] => {
    const verdict: Verdict = workspace.state === 'closed' ? { allowed: false, reason: CLOSED } : { allowed: true };
    return workspace.state === 'disabled'
      ? [
          {
            label: t('Enable'),
            icon: <IconPlayerPlay size={16} />,
            testId: 'action-enable',
            onClick: () => setEnabling(workspace),
          },
        ]
      : [
          {
            label: t('Disable'),
            icon: <IconPlayerStop size={16} />,
            danger: true,
            verdict,
            testId: 'action-disable',
            onClick: () => setDisabling(workspace),
          },
        ];
  };

  return (
    <>
      <PageHeader title={t('Workspaces')}>{t('Every workspace, with who owns it and what runs in it.')}</PageHeader>
      <ListBar>
        <SearchBox
          width={300}
          value={list.search}
          onChange={list.setSearch}
          placeholder={t('Name, id or owner’s email')}
        />
        <StatusFilter statuses={STATES} value={list.statuses} onChange={list.setStatuses} />
        <FilterMenu
          label={t('Plan')}
          options={PLANS.map((plan) => ({ value: plan, label: t(PLAN_WORDS[plan]) }))}
          value={plansOf(list)}
          onChange={(wanted) => list.setValues(PLAN, wanted)}
        />
      </ListBar>
      <DataTable
        {...workspaces.table}
        label={t('Workspaces')}
        name="admin-workspaces"
        rowTestId="workspace-row"
        columns={columns}
        rowKey={({ id }) => id}
        rowLink={({ id }, cell) => <Link to={panel.to(id)}>{cell}</Link>}
        rowActions={(workspace) => (
          <ActionMenu
            label={t('Actions for {{title}}', { title: workspace.name })}
            actions={() => actionsOf(workspace)}
          />
        )}
        sort={list.sort}
        onSort={list.setSort}
        empty={
          <NoMatches title={t('No workspace matches')} onClear={list.clear}>
            {list.search === ''
              ? t('Try other states or plans.')
              : t('An email is looked for from its beginning, and must have an @.')}
          </NoMatches>
        }
      />
      <WorkspacePanel id={panel.id} onClose={panel.close} actionsOf={actionsOf} />
      <DisableWorkspace workspace={disabling} onClose={() => setDisabling(null)} />
      <EnableDialog what="workspace" of={enabling} onClose={() => setEnabling(null)} />
    </>
  );
}
