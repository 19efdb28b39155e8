import { Combobox, useCombobox } from '@mantine/core';
import { IconCheck, IconSearch } from '@tabler/icons-react';
import { useEffect, useRef, useState } from 'react';
import { useT } from '../../i18n/i18n.ts';
import { TextInput } from '../form/TextInput.tsx';
import classes from './DateRange.module.css';
import { matchingLinks } from './quickLinks.ts';
import type { DateRange } from './resolve.ts';

interface Props {
  links: readonly DateRange[];
  chosen: DateRange | null;
  onChoose(link: DateRange): void;
}

/** Ranges by name, searchable: arrows move through them, Enter chooses. */
export function QuickLinks({ links, chosen, onChoose }: Props) {
  const t = useT();
  const combobox = useCombobox({ opened: true });
  const [search, setSearch] = useState('');
  const input = useRef<HTMLInputElement>(null);
  // Focuses the search itself, as the popup looks for its first control before this is loaded. Not on touch screens,
  // where a keyboard would cover the list.
  const [, setDrawn] = useState(false);
  useEffect(() => {
    // The search knows the list only after the first render.
    setDrawn(true);
    if (!window.matchMedia('(pointer: coarse)').matches) input.current?.focus({ preventScroll: true });
  }, []);
  const matching = matchingLinks(links, search, ({ title }) => t(title));
  return (
    <div className={classes.quick}>
      <Combobox
        store={combobox}
        onOptionSubmit={(id) => {
          const link = links.find((one) => one.id === id);
          if (link) onChoose(link);
        }}
      >
        <Combobox.EventsTarget withExpandedAttribute>
          <TextInput
            type="search"
            size="xs"
            aria-label={t('Search quick ranges')}
            placeholder={t('Search quick ranges')}
            // Its width is that of the shortcuts below, too narrow for the placeholder in some languages.
            title={t('Search quick ranges')}
            leftSection={<IconSearch size={16} />}
            value={search}
            ref={input}
            onChange={(event) => {
              setSearch(event.currentTarget.value);
              combobox.resetSelectedOption();
            }}
            onKeyDown={(event) => event.key === 'Enter' && event.preventDefault()}
          />
        </Combobox.EventsTarget>
        <Combobox.Options className={classes.links} aria-label={t('Quick ranges')}>
          {matching.map((link) => (
            <Combobox.Option
              key={link.id}
              value={link.id}
              active={link.id === chosen?.id}
              aria-selected={link.id === chosen?.id}
              className={classes.link}
            >
              {t(link.title)}
              {link.id === chosen?.id && <IconCheck size={14} aria-hidden="true" />}
            </Combobox.Option>
          ))}
          {matching.length === 0 && (
            <Combobox.Empty className={classes.none}>
              <b>{t('No shortcuts found.')}</b>
              <br />
              {t('Adjust your search or enter dates and times manually.')}
            </Combobox.Empty>
          )}
        </Combobox.Options>
      </Combobox>
    </div>
  );
}
