import type { api } from '@stagi/contract/api.ts';
import type { OutputOf } from '@stagi/contract/call.ts';
import { QUALITIES } from '@stagi/perf/quality.ts';
import { type T, useT } from '../../../i18n/i18n.ts';
import type { ListState } from '../../../lists/useListState.ts';
import { formatNumber } from '../../../ui/format.ts';
import { ChoiceFilter } from '../../../ui/table/ChoiceFilter.tsx';
import { FilterMenu } from '../../../ui/table/FilterMenu.tsx';
import { licenceName, QUALITY_BITS, qualityLabel, TASK_WORDS } from '../modelWords.ts';
import { contextLabel, sizeLabel } from './filterWords.ts';
import { CONTEXTS, escaped, GPU_COUNTS, gpuFilter, gpuOf, SIZES, tasksOf } from './modelsInput.ts';

export type Facets = OutputOf<typeof api.models.facets>;

interface Props {
  list: ListState;
  /** Undefined while it loads: what the catalogue holds cannot be chosen yet. */
  facets: Facets | undefined;
}

export function ModelFilters({ list, facets }: Props) {
  const t = useT();
  const gpu = gpuOf(list);
  const one = (name: string) => ({
    any: t('Any'),
    value: list.filter(name),
    onChange: (value: string) => list.setFilter(name, value),
  });
  return (
    <>
      <FilterMenu
        label={t('Task')}
        options={(facets?.tasks ?? []).map(({ value, count }) => ({ value, count, label: t(TASK_WORDS[value]) }))}
        value={tasksOf(list)}
        onChange={(tasks) => list.setValues('task', tasks)}
      />
      <FilterMenu
        label={t('Publisher')}
        options={(facets?.publishers ?? []).map(({ value, count }) => ({ value: escaped(value), count, label: value }))}
        value={list.values('publisher')}
        onChange={(publishers) => list.setValues('publisher', publishers)}
      />
      <ChoiceFilter
        label={t('Parameters')}
        options={SIZES.map((value) => ({ value, label: sizeLabel(t, value) }))}
        {...one('size')}
      />
      <ChoiceFilter
        label={t('Context')}
        options={CONTEXTS.map((value) => ({ value, label: contextLabel(Number(value)) }))}
        {...one('context')}
      />
      <FilterMenu
        label={t('Licence')}
        options={(facets?.licences ?? []).map(({ value, count }) => ({
          value: escaped(value),
          count,
          label: licenceName(value),
        }))}
        value={list.values('licence')}
        onChange={(licences) => list.setValues('licence', licences)}
      />
      <ChoiceFilter
        label={t('Quality')}
        options={QUALITIES.map((value) => ({ value, label: `${qualityLabel(t, value)} · ${t(QUALITY_BITS[value])}` }))}
        {...one('quality')}
      />
      <ChoiceFilter
        label={t('Fits GPU')}
        any={t('Any')}
        options={gpuOptions(t, facets)}
        value={gpu?.id ?? ''}
        onChange={(id) => list.setFilter('gpu', id && gpuFilter({ id, count: gpu?.count ?? 1 }))}
        testId="fits-gpu"
      />
      {gpu && (
        <ChoiceFilter
          label={t('Number of GPUs')}
          options={GPU_COUNTS.map((count) => ({ value: String(count), label: String(count) }))}
          value={String(gpu.count)}
          onChange={(count) => list.setFilter('gpu', gpuFilter({ id: gpu.id, count: Number(count) }))}
          testId="gpu-count"
        />
      )}
    </>
  );
}

/** By memory, the largest first: that is what decides. */
function gpuOptions(t: T, facets: Facets | undefined) {
  return (facets?.gpus ?? [])
    .toSorted((a, b) => b.memoryGb - a.memoryGb || (a.name < b.name ? -1 : 1))
    .map(({ id, name, memoryGb }) => ({
      value: id,
      label: name,
      group: t('{{gb}} GB', { gb: formatNumber(memoryGb) }),
    }));
}
