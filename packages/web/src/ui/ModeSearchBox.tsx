import { text } from '@stagi/contract/text.ts';
import { useT } from '../i18n/i18n.ts';
import { Select } from './form/Select.tsx';
import { SEARCH_MODE_WIDTHS_PX } from './kitConstants.ts';
import classes from './ModeSearchBox.module.css';
import { SearchBox, type SearchBoxProps } from './SearchBox.tsx';

export type SearchMode = 'contains' | 'regex';

interface Props extends SearchBoxProps {
  mode: SearchMode;
  onMode(mode: SearchMode): void;
}

const MODES: readonly { value: SearchMode; label: string; width: number }[] = [
  { value: 'contains', label: text('Line contains'), width: SEARCH_MODE_WIDTHS_PX[0] },
  { value: 'regex', label: text('Line contains regex match'), width: SEARCH_MODE_WIDTHS_PX[1] },
];

/** How lines are searched. */
export function SearchModeSelect({ mode, onMode }: Pick<Props, 'mode' | 'onMode'>) {
  const t = useT();
  return (
    <Select<(typeof MODES)[number], SearchMode>
      aria-label={t('Search mode')}
      options={MODES.map((option) => ({ ...option, label: t(option.label) }))}
      value={mode}
      onChange={(next) => onMode(next ?? 'contains')}
      w={{ base: '100%', sm: MODES.find(({ value }) => value === mode)?.width }}
      data-testid="search-mode"
    />
  );
}

/** Search over lines, with the choice of how they are searched; the selector is as wide as its words. */
export function ModeSearchBox({ mode, onMode, ...search }: Props) {
  const t = useT();
  return (
    <div className={classes.modes}>
      <SearchModeSelect mode={mode} onMode={onMode} />
      <SearchBox placeholder={t('Search lines')} {...search} />
    </div>
  );
}
