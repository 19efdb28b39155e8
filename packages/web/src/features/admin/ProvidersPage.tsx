import { api } from '@stagi/contract/api.ts';
import type { OperatedProvider } from '@stagi/contract/providers.ts';
import { IconCloud, IconStethoscope } from '@tabler/icons-react';
import { Link, useSearchParams } from 'react-router';
import { useT } from '../../i18n/i18n.ts';
import { useList } from '../../layouts/useList.ts';
import { useListState } from '../../layouts/useListState.ts';
import { ActionMenu } from '../../ui/actions.tsx';
import { DataTable } from '../../ui/DataTable.tsx';
import { EmptyState } from '../../ui/EmptyState.tsx';
import { StatusFilter } from '../../ui/FilterMenu.tsx';
import { ListBar } from '../../ui/ListBar.tsx';
import { NoMatches } from '../../ui/NoMatches.tsx';
import { PageHeader } from '../../ui/PageHeader.tsx';
import { SearchBox } from '../../ui/SearchBox.tsx';
import { ProviderPanel } from './ProviderPanel.tsx';
import { isUnderWay, useCheck } from './useCheck.ts';
import { useProviderColumns } from './useProviderColumns.tsx';

const PROVIDER = 'provider';
const STATES: readonly OperatedProvider['state'][] = ['ready', 'preparing', 'unavailable'];
/** No event announces how a cloud is; while one is being checked people wait for it. */
const READ_AGAIN_MS = 15_000;
const CHECKED_MS = 1_500;

/** The clouds that are set up: how they are, what they can do, and a real question put to them. */
export function ProvidersPage() {
  const t = useT();
  const list = useListState();
  const [params, setParams] = useSearchParams();
  const named = params.get(PROVIDER);
  const { data, table } = useList(api.providers.list, { entityFilterRequest: list.request }, list, (answer) =>
    answer?.entities.some(isUnderWay) ? CHECKED_MS : READ_AGAIN_MS,
  );
  const check = useCheck();
  const columns = useProviderColumns();
  const some = list.narrowed || (table.rows?.length ?? 0) > 0;
  const withPanel = (provider: string | null): URLSearchParams => {
    const next = new URLSearchParams(params);
    if (provider === null) next.delete(PROVIDER);
    else next.set(PROVIDER, provider);
    return next;
  };

  return (
    <>
      <PageHeader title={t('Clouds')}>{t('The clouds that servers are rented from, as they are now.')}</PageHeader>
      {some && (
        <ListBar>
          <SearchBox value={list.search} onChange={list.setSearch} placeholder={t('Search by name')} />
          <StatusFilter statuses={STATES} value={list.statuses} onChange={list.setStatuses} />
        </ListBar>
      )}
      <DataTable
        {...table}
        label={t('Clouds')}
        name="admin-providers"
        rowTestId="provider-row"
        columns={columns}
        rowKey={({ provider }) => provider}
        rowLink={({ provider }, cell) => <Link to={`?${withPanel(provider)}`}>{cell}</Link>}
        sort={list.sort}
        onSort={list.setSort}
        rowActions={(provider) => (
          <ActionMenu
            label={t('Actions for {{title}}', { title: provider.title })}
            actions={[
              {
                label: t('Check now'),
                icon: <IconStethoscope size={16} />,
                verdict: isUnderWay(provider)
                  ? { allowed: false, reason: t('It is being checked') }
                  : { allowed: true },
                testId: 'action-check',
                onClick: () => check.run({ provider: provider.provider }),
              },
            ]}
          />
        )}
        empty={
          list.narrowed ? (
            <NoMatches title={t('No cloud matches')} onClear={list.clear}>
              {t('Try other words or states.')}
            </NoMatches>
          ) : (
            <EmptyState icon={<IconCloud size={20} />} title={t('No cloud is set up')}>
              {t('Name one in the configuration of the platform: its variables are in the README.')}
            </EmptyState>
          )
        }
      />
      <ProviderPanel
        provider={data?.entities.find(({ provider }) => provider === named) ?? null}
        onClose={() => setParams(withPanel(null), { replace: true, preventScrollReset: true })}
        onCheck={(provider) => check.run({ provider })}
        asking={check.loading}
      />
    </>
  );
}
