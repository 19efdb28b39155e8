import { api } from '@stagi/contract/api.ts';
import { IconAdjustmentsHorizontal, IconCards } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { Suspense, useEffect, useState } from 'react';
import { q } from '../../../api/query.ts';
import { useT } from '../../../i18n/i18n.ts';
import { lazyComponent } from '../../../lazyChunks.ts';
import { PageLinks } from '../../../lists/PageLinks.tsx';
import { useList } from '../../../lists/useList.ts';
import { useListState } from '../../../lists/useListState.ts';
import { Button } from '../../../ui/Button.tsx';
import { EmptyState } from '../../../ui/EmptyState.tsx';
import { ErrorState } from '../../../ui/ErrorState.tsx';
import { PageHeader } from '../../../ui/PageHeader.tsx';
import { SearchBox } from '../../../ui/SearchBox.tsx';
import { NoMatches } from '../../../ui/table/NoMatches.tsx';
import { ActiveFilters, useActiveFilters } from './ActiveFilters.tsx';
import { ListTools } from './ListTools.tsx';
import { CardSkeletons, ModelCards } from './ModelCards.tsx';
import { ModelFilters } from './ModelFilters.tsx';
import classes from './Models.module.css';
import { gpuOf, MODEL_FILTERS, modelsInput, NEWEST } from './modelsInput.ts';
import { useView } from './useView.ts';

const ModelTable = lazyComponent(async () => (await import('./ModelTable.tsx')).ModelTable);
const FilterDialog = lazyComponent(async () => (await import('./FilterDialog.tsx')).FilterDialog);

/** The catalogue of models, open to everybody. */
export function ModelsPage() {
  const t = useT();
  const state = useListState({ sort: NEWEST, filters: MODEL_FILTERS });
  const { data, table, isEmpty } = useList(api.models.list, modelsInput(state), state);
  const { data: facets } = useQuery(q(api.models.facets, {}));
  const { view } = useView();
  const active = useActiveFilters(state, facets);
  const [dialog, setDialog] = useState<'unused' | 'open' | 'closed'>('unused');

  const gpu = gpuOf(state);
  const unknownGpu = gpu !== null && facets !== undefined && !facets.gpus.some(({ id }) => id === gpu.id);
  // biome-ignore lint/correctness/useExhaustiveDependencies: setFilter is another function at every drawing
  useEffect(() => {
    if (unknownGpu) state.setFilter('gpu', '');
  }, [unknownGpu]);

  return (
    <>
      <PageHeader title={t('Models')}>
        {t('Open models with what they need: memory, speed and price on the GPUs that you can rent here.')}
      </PageHeader>
      <div className={classes.bar}>
        <SearchBox value={state.search} onChange={state.setSearch} placeholder={t('Search models')} width={240} />
        <div className={classes.filters}>
          <ModelFilters list={state} facets={facets} />
        </div>
        <Button
          className={classes.filterButton}
          color="gray"
          icon={<IconAdjustmentsHorizontal size={16} />}
          aria-haspopup="dialog"
          onClick={() => setDialog('open')}
          data-testid="open-filters"
        >
          {active.length === 0 ? t('Filters') : `${t('Filters')} · ${active.length}`}
        </Button>
      </div>
      <ActiveFilters active={active} onClear={state.clear} />
      <ListTools state={state} total={facets?.total} found={table.error ? undefined : data?.totalCount} />
      {models()}
      <div className={classes.end}>
        {data && !table.error && <PageLinks page={state.page} totalPages={data.totalPages} />}
      </div>
      {dialog !== 'unused' && (
        <Suspense>
          <FilterDialog
            opened={dialog === 'open'}
            onClose={() => setDialog('closed')}
            list={state}
            facets={facets}
            count={table.stale ? undefined : data?.totalCount}
          />
        </Suspense>
      )}
    </>
  );

  function models() {
    const { rows, error, stale } = table;
    if (error && !rows)
      return (
        <div className={classes.frame}>
          <ErrorState message={error} onRetry={table.onRetry} retrying={table.retrying} />
        </div>
      );
    if (!rows) return <CardSkeletons />;
    if (rows.length === 0)
      return (
        <div className={classes.frame}>
          {isEmpty ? (
            <EmptyState icon={<IconCards size={20} />} title={t('The catalogue has no models yet')} />
          ) : (
            <NoMatches
              title={
                state.search === ''
                  ? t('No model matches these filters')
                  : t('No model matches “{{search}}”', { search: state.search })
              }
              onClear={state.clear}
            >
              {active.length > 0 && `${t('Filters')}: ${active.map(({ label }) => label).join(' · ')}`}
            </NoMatches>
          )}
        </div>
      );
    return view === 'table' ? (
      <Suspense fallback={<CardSkeletons />}>
        <ModelTable models={rows} listKey={table.listKey} stale={stale} sort={state.sort} onSort={state.setSort} />
      </Suspense>
    ) : (
      <ModelCards models={rows} stale={stale} />
    );
  }
}
