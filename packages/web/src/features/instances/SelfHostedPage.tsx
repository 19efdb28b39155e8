import { api } from '@stagi/contract/api.ts';
import { SelfHostedStatus } from '@stagi/contract/instances.ts';
import { IconPlus, IconServer2 } from '@tabler/icons-react';
import { Link, useSearchParams } from 'react-router';
import { GettingStarted } from '../../gettingStarted/GettingStarted.tsx';
import { useT } from '../../i18n/i18n.ts';
import { ListPage } from '../../lists/ListPage.tsx';
import { useList } from '../../lists/useList.ts';
import { useListState } from '../../lists/useListState.ts';
import { paths } from '../../paths.ts';
import { Button } from '../../ui/Button.tsx';
import { StatusFilter } from '../../ui/table/StatusFilter.tsx';
import { AttachServerWizard } from './selfHosted/AttachServerWizard.tsx';
import { useSelfHostedActions } from './selfHosted/useSelfHostedActions.tsx';
import { useSelfHostedColumns } from './selfHosted/useSelfHostedColumns.tsx';

const REFETCH_MS = 15_000;

/** The list of self-hosted instances, or with `?new` the wizard that attaches one. */
export function SelfHostedPage() {
  const [params] = useSearchParams();
  return params.has('new') ? <AttachServerWizard /> : <SelfHostedList />;
}

function SelfHostedList() {
  const t = useT();
  const state = useListState();
  const list = useList(api.selfHosted.list, { entityFilterRequest: state.request }, state, REFETCH_MS);
  const actions = useSelfHostedActions();
  const columns = useSelfHostedColumns();
  return (
    <ListPage
      title={t('Self-hosted')}
      about={t('Your own servers that run containers for this workspace. They are free of charge.')}
      create={
        <Button component={Link} to={paths.joinServer()} icon={<IconPlus size={16} />} data-testid="self-hosted-create">
          {t('Attach a server')}
        </Button>
      }
      above={<GettingStarted />}
      list={list}
      search={t('Search servers')}
      filters={<StatusFilter statuses={SelfHostedStatus.options} value={state.statuses} onChange={state.setStatuses} />}
      name="self-hosted"
      rowTestId="self-hosted-row"
      columns={columns}
      rowKey={({ id }) => id}
      rowName={({ title }) => title}
      rowLink={({ id }, cell) => <Link to={paths.selfInstance(id)}>{cell}</Link>}
      actions={actions}
      noMatches={{
        title: t('No server matches'),
        text: t('To see deleted servers, filter by that status.'),
      }}
      empty={{
        icon: <IconServer2 size={20} />,
        title: t('No servers of your own yet'),
        text: t(
          'Any Ubuntu machine with an NVIDIA GPU, Git and Docker can join with one command. It only makes outbound connections: no ports need to be opened.',
        ),
      }}
    />
  );
}
