import type { ProviderState } from '@stagi/contract/hardware.ts';
import { useT } from '../../i18n/i18n.ts';
import type { ListState } from '../../lists/useListState.ts';
import { Select } from '../../ui/form/Select.tsx';
import { SearchBox } from '../../ui/SearchBox.tsx';
import { FilterMenu } from '../../ui/table/FilterMenu.tsx';
import { chosenProviders } from './offersInput.ts';

const CORES = ['2', '4', '8', '16', '32', '64'];
const RAM_GB = ['2', '4', '8', '16', '32', '64', '128', '256'];

export function OfferFilters({ list, providers }: { list: ListState; providers: readonly ProviderState[] }) {
  const t = useT();
  return (
    <>
      <SearchBox value={list.search} onChange={list.setSearch} placeholder={t('Search offers')} width={200} />
      {providers.length > 1 && (
        <FilterMenu
          label={t('Provider')}
          options={providers.map(({ provider, title }) => ({ value: provider, label: t(title) }))}
          value={chosenProviders(list)}
          onChange={(chosen) => list.setValues('provider', chosen)}
        />
      )}
      <Select
        aria-label={t('GPU')}
        w={130}
        placeholder={t('Any GPU')}
        mayBeEmpty
        options={[
          { value: 'with', label: t('With GPU') },
          { value: 'without', label: t('Without GPU') },
        ]}
        value={list.filter('gpu') || null}
        onChange={(value) => list.setFilter('gpu', value ?? '')}
      />
      <Select
        aria-label={t('CPU cores at least')}
        w={130}
        placeholder={t('Any CPU')}
        mayBeEmpty
        options={CORES.map((value) => ({ value, label: t('{{count}}+ cores', { count: Number(value) }) }))}
        value={list.filter('cores') || null}
        onChange={(value) => list.setFilter('cores', value ?? '')}
      />
      <Select
        aria-label={t('RAM at least')}
        w={130}
        placeholder={t('Any RAM')}
        mayBeEmpty
        options={RAM_GB.map((value) => ({ value, label: t('{{gb}}+ GB', { gb: value }) }))}
        value={list.filter('ram') || null}
        onChange={(value) => list.setFilter('ram', value ?? '')}
      />
    </>
  );
}
