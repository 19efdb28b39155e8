import { useT } from '../../../i18n/i18n.ts';
import type { ListState } from '../../../lists/useListState.ts';
import { Button } from '../../../ui/Button.tsx';
import { Tag } from '../../../ui/Tag.tsx';
import { licenceName, qualityLabel, TASK_WORDS } from '../modelWords.ts';
import { contextLabel, gpuLabel, sizeLabel } from './filterWords.ts';
import type { Facets } from './ModelFilters.tsx';
import classes from './Models.module.css';
import { contextOf, gpuOf, qualityOf, sizeOf, tasksOf, unescaped } from './modelsInput.ts';

interface ActiveFilter {
  name: string;
  label: string;
  remove(): void;
}

/** What narrows the list besides the search, one for each value. */
export function useActiveFilters(list: ListState, facets: Facets | undefined): ActiveFilter[] {
  const t = useT();
  const several = (name: string, value: string, label: string): ActiveFilter => ({
    name: `${name} ${value}`,
    label,
    remove: () =>
      list.setValues(
        name,
        list.values(name).filter((other) => other !== value),
      ),
  });
  const single = (name: string, label: string): ActiveFilter => ({
    name,
    label,
    remove: () => list.setFilter(name, ''),
  });
  const context = contextOf(list);
  const quality = qualityOf(list);
  const gpu = gpuOf(list);
  return [
    ...tasksOf(list).map((task) => several('task', task, t(TASK_WORDS[task]))),
    ...list.values('publisher').map((value) => several('publisher', value, unescaped(value))),
    ...(sizeOf(list) ? [single('size', sizeLabel(t, list.filter('size')))] : []),
    ...(context ? [single('context', `${t('Context')} ${contextLabel(context)}`)] : []),
    ...list.values('licence').map((value) => several('licence', value, licenceName(unescaped(value)))),
    ...(quality ? [single('quality', `${t('Quality')} ${qualityLabel(t, quality)}`)] : []),
    ...(gpu ? [single('gpu', t('Fits {{gpu}}', { gpu: gpuLabel(facets?.gpus, gpu) }))] : []),
  ];
}

export function ActiveFilters({ active, onClear }: { active: readonly ActiveFilter[]; onClear(): void }) {
  const t = useT();
  if (active.length === 0) return null;
  return (
    <ul className={classes.active} aria-label={t('Filters')}>
      {active.map(({ name, label, remove }) => (
        <li key={name}>
          <Tag onRemove={remove} removeLabel={t('Remove {{name}}', { name: label })}>
            {label}
          </Tag>
        </li>
      ))}
      <li>
        <Button color="gray" look="quiet" size="xxs" onClick={onClear} data-testid="clear-all">
          {t('Clear all')}
        </Button>
      </li>
    </ul>
  );
}
