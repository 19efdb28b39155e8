import { CloseButton } from '@mantine/core';
import { useDebouncedCallback } from '@mantine/hooks';
import { text } from '@stagi/contract/text.ts';
import { IconSearch } from '@tabler/icons-react';
import { type ReactNode, useEffect, useRef, useState } from 'react';
import { useT } from '../i18n/i18n.ts';
import { Select } from './form/Select.tsx';
import { TextInput } from './form/TextInput.tsx';
import { SEARCH_MODE_WIDTHS_PX } from './kitConstants.ts';
import classes from './SearchBox.module.css';

export type SearchMode = 'contains' | 'regex';

interface Props {
  value: string;
  /** Gets the trimmed text, shortly after typing stops. */
  onChange(value: string): void;
  placeholder?: string;
  /** What is searched, where the placeholder has no room to say it. */
  label?: string;
  width?: number | string;
  error?: ReactNode;
}

interface ModeProps extends Props {
  mode: SearchMode;
  onMode(mode: SearchMode): void;
}

const SEARCH_DELAY_MS = 250;

/** Search over a list. The shell’s `/` brings the cursor here: it looks for the page’s search field. */
export function SearchBox({ value, onChange, placeholder, label = placeholder, width = 260, error }: Props) {
  const t = useT();
  const [typed, setTyped] = useState(value);
  const sent = useRef(value);
  const input = useRef<HTMLInputElement>(null);
  const send = useDebouncedCallback((text: string) => {
    sent.current = text;
    onChange(text);
  }, SEARCH_DELAY_MS);

  useEffect(() => {
    if (value !== sent.current) {
      sent.current = value;
      setTyped(value);
    }
  }, [value]);

  function change(text: string): void {
    setTyped(text);
    send(text.trim());
  }

  return (
    <TextInput
      ref={input}
      type="search"
      w={{ base: '100%', sm: width }}
      aria-label={label ?? t('Search')}
      placeholder={placeholder ?? t('Search')}
      value={typed}
      error={error}
      onChange={(event) => change(event.currentTarget.value)}
      leftSection={<IconSearch size={16} />}
      rightSection={
        typed === '' ? null : (
          <CloseButton
            size="sm"
            aria-label={t('Clear')}
            onClick={() => {
              change('');
              input.current?.focus();
            }}
          />
        )
      }
      rightSectionPointerEvents="auto"
    />
  );
}

const MODES: readonly { value: SearchMode; label: string; width: number }[] = [
  { value: 'contains', label: text('Line contains'), width: SEARCH_MODE_WIDTHS_PX[0] },
  { value: 'regex', label: text('Line contains regex match'), width: SEARCH_MODE_WIDTHS_PX[1] },
];

/** How lines are searched. */
export function SearchModeSelect({ mode, onMode }: Pick<ModeProps, 'mode' | 'onMode'>) {
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
export function ModeSearchBox({ mode, onMode, ...search }: ModeProps) {
  const t = useT();
  return (
    <div className={classes.modes}>
      <SearchModeSelect mode={mode} onMode={onMode} />
      <SearchBox placeholder={t('Search lines')} {...search} />
    </div>
  );
}
