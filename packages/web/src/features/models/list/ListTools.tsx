import { Link } from 'react-router';
import { useT } from '../../../i18n/i18n.ts';
import type { ListState } from '../../../lists/useListState.ts';
import { formatNumber } from '../../../ui/format.ts';
import { ChoiceFilter } from '../../../ui/table/ChoiceFilter.tsx';
import classes from './Models.module.css';
import { useView, type View } from './useView.ts';

interface Props {
  state: ListState;
  /** In the catalogue, and those that the filters let through; undefined while unknown. */
  total: number | undefined;
  found: number | undefined;
}

/** The line over the models: how many there are, their order, and how they are shown. */
export function ListTools({ state, total, found }: Props) {
  const t = useT();
  const { view, to, remember } = useView();
  const sort = `${state.sort.field}.${state.sort.direction}`;
  const views: { key: View; label: string }[] = [
    { key: 'cards', label: t('Cards') },
    { key: 'table', label: t('Table') },
  ];
  return (
    <div className={classes.tools}>
      <span className={classes.count} role="status" data-testid="model-count">
        {found !== undefined &&
          (state.narrowed && total !== undefined
            ? t('{{found}} of {{count}} models', { found: formatNumber(found), count: total })
            : t('{{count}} models', { count: found }))}
      </span>
      <ChoiceFilter
        label={t('Sort')}
        options={[
          { value: 'releasedAt.desc', label: t('Newest') },
          { value: 'name.asc', label: t('Name') },
          { value: 'parameters.desc', label: t('Largest') },
          { value: 'parameters.asc', label: t('Smallest') },
          { value: 'contextLength.desc', label: t('Longest context') },
        ]}
        value={sort}
        onChange={(value) => {
          const [field = '', direction] = value.split('.');
          state.setSort({ field, direction: direction === 'asc' ? 'asc' : 'desc' });
        }}
        testId="sort-models"
      />
      <nav className={classes.views} aria-label={t('View')}>
        {views.map(({ key, label }) => (
          <Link
            key={key}
            to={to(key)}
            replace
            preventScrollReset
            aria-current={key === view ? 'true' : undefined}
            onClick={() => remember(key)}
            data-testid={`view-${key}`}
          >
            {label}
          </Link>
        ))}
      </nav>
    </div>
  );
}
