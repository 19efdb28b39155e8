import { api } from '@stagi/contract/api.ts';
import { SelfHostedStatus } from '@stagi/contract/instances.ts';
import { IconPlus, IconServer2 } from '@tabler/icons-react';
import { Link, useSearchParams } from 'react-router';
import { useT } from '../../i18n/i18n.ts';
import { useList } from '../../layouts/useList.ts';
import { useListState } from '../../layouts/useListState.ts';
import { paths } from '../../paths.ts';
import { ActionMenu } from '../../ui/actions.tsx';
import { Button } from '../../ui/Button.tsx';
import { DataTable } from '../../ui/DataTable.tsx';
import { EmptyState } from '../../ui/EmptyState.tsx';
import { StatusFilter } from '../../ui/FilterMenu.tsx';
import { ListBar } from '../../ui/ListBar.tsx';
import { NoMatches } from '../../ui/NoMatches.tsx';
import { PageHeader } from '../../ui/PageHeader.tsx';
import { SearchBox } from '../../ui/SearchBox.tsx';
import { useServerColumns } from './columns.tsx';
import { JoinWizard } from './JoinWizard.tsx';
import { useServerActions } from './useServerActions.tsx';
import { useServerBulk } from './useServerBulk.tsx';

const REFETCH_MS = 15_000;

/** The list, or the wizard that adds to it when the address says so. */
export function SelfHostedPage() {
  const [params] = useSearchParams();
  return params.has('new') ? <JoinWizard /> : <Servers />;
}

function Servers() {
  const t = useT();
  const list = useListState();
  const servers = useList(api.selfHosted.list, { entityFilterRequest: list.request }, list, REFETCH_MS);
  const actions = useServerActions();
  const bulk = useServerBulk();
  const columns = useServerColumns();
  const some = list.narrowed || (servers.table.rows?.length ?? 1) > 0;
  const attach = (
    <Button component={Link} to={paths.joinServer()} icon={<IconPlus size={16} />} data-testid="self-hosted-create">
      {t('Attach a server')}
    </Button>
  );

  return (
    <>
      <PageHeader title={t('Self-hosted')} actions={some && attach}>
        {t('Servers of your own that run containers for this workspace. They cost nothing here.')}
      </PageHeader>
      {some && (
        <ListBar>
          <SearchBox value={list.search} onChange={list.setSearch} placeholder={t('Search servers')} />
          <StatusFilter statuses={SelfHostedStatus.options} value={list.statuses} onChange={list.setStatuses} />
        </ListBar>
      )}
      <DataTable
        {...servers.table}
        label={t('Self-hosted')}
        name="self-hosted"
        rowTestId="self-hosted-row"
        columns={columns}
        rowKey={(server) => server.id}
        rowLink={(server, cell) => <Link to={paths.selfInstance(server.id)}>{cell}</Link>}
        rowActions={(server) => (
          <ActionMenu label={t('Actions for {{title}}', { title: server.title })} actions={() => actions.of(server)} />
        )}
        rowName={({ title }) => title}
        bulk={bulk.actions}
        sort={list.sort}
        onSort={list.setSort}
        empty={
          list.narrowed ? (
            <NoMatches title={t('No server matches')} onClear={list.clear}>
              {t('Deleted servers are listed only when you ask for that status.')}
            </NoMatches>
          ) : (
            <EmptyState icon={<IconServer2 size={20} />} title={t('No servers of your own yet')} action={attach}>
              {t(
                'Any Ubuntu machine with an NVIDIA GPU, Git and Docker can join with one command. It dials out: no port has to be opened.',
              )}
            </EmptyState>
          )
        }
      />
      {actions.dialogs}
      {bulk.dialog}
    </>
  );
}
