import { useT } from '../../../i18n/i18n.ts';
import type { ListState } from '../../../lists/useListState.ts';
import { Button } from '../../../ui/Button.tsx';
import { Dialog } from '../../../ui/dialogs/Dialog.tsx';
import { type Facets, ModelFilters } from './ModelFilters.tsx';
import classes from './Models.module.css';

interface Props {
  opened: boolean;
  onClose(): void;
  list: ListState;
  facets: Facets | undefined;
  /** How many models the filters let through; undefined while that is being asked. */
  count: number | undefined;
}

/** The filters on a phone, where they have no room over the list. They apply at once. */
export function FilterDialog({ opened, onClose, list, facets, count }: Props) {
  const t = useT();
  return (
    <Dialog opened={opened} onClose={onClose} title={t('Filters')} placement="right" testId="model-filters">
      <div className={classes.stacked}>
        <ModelFilters list={list} facets={facets} />
      </div>
      <div className={classes.dialogEnd}>
        <Button color="gray" onClick={list.clear}>
          {t('Clear all')}
        </Button>
        <Button onClick={onClose} data-testid="show-models">
          {count === undefined ? t('Show models') : t('Show {{count}} models', { count })}
        </Button>
      </div>
    </Dialog>
  );
}
