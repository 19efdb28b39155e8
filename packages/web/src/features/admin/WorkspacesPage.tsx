import type { AdminClient } from '@stagi/contract/adminClients.ts';
import { api } from '@stagi/contract/api.ts';
import { text } from '@stagi/contract/text.ts';
import type { Verdict } from '@stagi/contract/verdict.ts';
import { IconCoins, IconPlayerPlay, IconPlayerStop, IconRuler } from '@tabler/icons-react';
import { useState } from 'react';
import { Link } from 'react-router';
import { call } from '../../api/client.ts';
import { useT } from '../../i18n/i18n.ts';
import { PLAN_WORDS } from '../../i18n/planWords.ts';
import { ListPage } from '../../lists/ListPage.tsx';
import { useList } from '../../lists/useList.ts';
import { useListState } from '../../lists/useListState.ts';
import { usePanel } from '../../lists/usePanel.ts';
import { useRowActions } from '../../lists/useRowActions.tsx';
import { FilterMenu } from '../../ui/table/FilterMenu.tsx';
import { StatusFilter } from '../../ui/table/StatusFilter.tsx';
import { AddCredit } from './AddCredit.tsx';
import { ChangePlan } from './ChangePlan.tsx';
import { DisableWorkspace } from './DisableWorkspace.tsx';
import { PLAN_FILTER, PLANS, plansOf, WORKSPACE_FILTERS, workspacesInput } from './listInputs.ts';
import { useWorkspaceColumns } from './useWorkspaceColumns.tsx';
import { WorkspacePanel } from './WorkspacePanel.tsx';

const STATES: readonly AdminClient['state'][] = ['active', 'disabled', 'closed'];
const CLOSED = text('This workspace has been closed');
const DISABLED = text('This workspace is disabled. Enable it before you add credit.');

/** All workspaces, for operators: search, view, plan, credit, disable, enable. */
export function WorkspacesPage() {
  const t = useT();
  const state = useListState({ filters: WORKSPACE_FILTERS });
  const list = useList(api.adminClients.list, workspacesInput(state), state);
  const columns = useWorkspaceColumns();
  const panel = usePanel('workspace');
  const [disabling, setDisabling] = useState<AdminClient | null>(null);
  const [planning, setPlanning] = useState<AdminClient | null>(null);
  const [crediting, setCrediting] = useState<AdminClient | null>(null);
  const actions = useWorkspaceActions({ plan: setPlanning, credit: setCrediting, disable: setDisabling });

  return (
    <ListPage
      title={t('Workspaces')}
      about={t('All workspaces, their owners and what runs in them.')}
      list={list}
      search={t('Name, id or owner’s email')}
      searchWidth={300}
      filters={
        <>
          <StatusFilter statuses={STATES} value={state.statuses} onChange={state.setStatuses} />
          <FilterMenu
            label={t('Plan')}
            options={PLANS.map((plan) => ({ value: plan, label: t(PLAN_WORDS[plan]) }))}
            value={plansOf(state)}
            onChange={(wanted) => state.setValues(PLAN_FILTER, wanted)}
          />
        </>
      }
      name="admin-workspaces"
      rowTestId="workspace-row"
      columns={columns}
      rowKey={({ id }) => id}
      rowName={({ name }) => name}
      rowLink={({ id }, cell) => <Link to={panel.to(id)}>{cell}</Link>}
      actions={actions}
      noMatches={{
        title: t('No workspace matches'),
        text:
          state.search === ''
            ? t('Try other states or plans.')
            : t('To search by email, type it from the beginning, including the @.'),
      }}
    >
      <WorkspacePanel id={panel.id} onClose={panel.close} actionsOf={actions.of} />
      <ChangePlan workspace={planning} onClose={() => setPlanning(null)} />
      <AddCredit workspace={crediting} onClose={() => setCrediting(null)} />
      <DisableWorkspace workspace={disabling} onClose={() => setDisabling(null)} />
    </ListPage>
  );
}

type Open = (workspace: AdminClient) => void;

function useWorkspaceActions({ plan, credit, disable }: Record<'plan' | 'credit' | 'disable', Open>) {
  const t = useT();
  const canIfOpen = ({ state }: AdminClient): Verdict =>
    state === 'closed' ? { allowed: false, reason: CLOSED } : { allowed: true };
  return useRowActions<AdminClient>(
    [
      { name: 'plan', label: t('Change plan and quotas'), icon: IconRuler, can: canIfOpen, open: plan },
      {
        name: 'credit',
        label: t('Add credit'),
        icon: IconCoins,
        can: (workspace) =>
          workspace.state === 'disabled' ? { allowed: false, reason: DISABLED } : canIfOpen(workspace),
        open: credit,
      },
      {
        name: 'enable',
        label: t('Enable'),
        icon: IconPlayerPlay,
        shown: ({ state }) => state === 'disabled',
        perform: ({ id }, options) => call(api.adminClients.enable, { id }, options),
        confirm: ({ name }) => ({
          title: t('Enable {{name}}?', { name }),
          text: t(
            'Its members regain access and are notified by email. Stopped servers stay stopped until somebody starts them.',
          ),
        }),
        success: ({ name }) => t('{{name}} has been enabled', { name }),
      },
      {
        name: 'disable',
        label: t('Disable'),
        icon: IconPlayerStop,
        danger: true,
        shown: ({ state }) => state !== 'disabled',
        can: canIfOpen,
        open: disable,
      },
    ],
    ['admin/'],
  );
}
