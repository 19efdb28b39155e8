import { api } from '@stagi/contract/api.ts';
import type { OperatedProvider } from '@stagi/contract/providers.ts';
import { IconCloud, IconStethoscope } from '@tabler/icons-react';
import { Link } from 'react-router';
import { useT } from '../../i18n/i18n.ts';
import { ListPage } from '../../lists/ListPage.tsx';
import { useList } from '../../lists/useList.ts';
import { useListState } from '../../lists/useListState.ts';
import { useAddressParams } from '../../navigation/useAddressParams.ts';
import type { Action } from '../../ui/actions.tsx';
import { StatusFilter } from '../../ui/table/StatusFilter.tsx';
import { ProviderPanel } from './ProviderPanel.tsx';
import { isBeingChecked, useProviderCheck } from './useProviderCheck.ts';
import { useProviderColumns } from './useProviderColumns.tsx';

const PROVIDER = 'provider';
const STATES: readonly OperatedProvider['state'][] = ['ready', 'preparing', 'unavailable'];
/** No event reports the state of a cloud, so the list is polled; faster while one is being checked. */
const REFETCH_MS = 15_000;
const REFETCH_WHILE_CHECKING_MS = 1_500;

/** The configured clouds: state, capabilities, and a live check. */
export function ProvidersPage() {
  const t = useT();
  const state = useListState();
  const [params, changeParams] = useAddressParams();
  const named = params.get(PROVIDER);
  const list = useList(api.providers.list, { entityFilterRequest: state.request }, state, (answer) =>
    answer?.entities.some(isBeingChecked) ? REFETCH_WHILE_CHECKING_MS : REFETCH_MS,
  );
  const check = useProviderCheck();
  const columns = useProviderColumns();
  const withPanel = (provider: string): URLSearchParams => {
    const next = new URLSearchParams(params);
    next.set(PROVIDER, provider);
    return next;
  };

  const actionsOf = (provider: OperatedProvider): Action[] => [
    {
      label: t('Check now'),
      icon: <IconStethoscope size={16} />,
      verdict: isBeingChecked(provider) ? { allowed: false, reason: t('It is being checked') } : { allowed: true },
      testId: 'action-check',
      onClick: () => check.run({ provider: provider.provider }),
    },
  ];

  return (
    <ListPage
      title={t('Clouds')}
      about={t('The clouds that servers are rented from, as they are now.')}
      list={list}
      search={t('Search by name')}
      filters={<StatusFilter statuses={STATES} value={state.statuses} onChange={state.setStatuses} />}
      name="admin-providers"
      rowTestId="provider-row"
      columns={columns}
      rowKey={({ provider }) => provider}
      rowName={({ title }) => title}
      rowLink={({ provider }, cell) => <Link to={`?${withPanel(provider)}`}>{cell}</Link>}
      actions={{ of: actionsOf }}
      noMatches={{ title: t('No cloud matches'), text: t('Try other words or states.') }}
      empty={{
        icon: <IconCloud size={20} />,
        title: t('No cloud is set up'),
        text: t('Add one in the platform configuration: the variables are in the README.'),
      }}
    >
      <ProviderPanel
        provider={list.data?.entities.find(({ provider }) => provider === named) ?? null}
        onClose={() => changeParams((next) => next.delete(PROVIDER), { replace: true })}
        onCheck={(provider) => check.run({ provider })}
        asking={check.loading}
      />
    </ListPage>
  );
}
