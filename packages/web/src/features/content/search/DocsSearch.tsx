import { IconSearch } from '@tabler/icons-react';
import { type KeyboardEvent, useEffect, useId, useRef, useState } from 'react';
import { useNavigate } from 'react-router';
import { useT } from '../../../i18n/i18n.ts';
import { useLanguage } from '../../../preferences/preferences.ts';
import { TextInput } from '../../../ui/form/TextInput.tsx';
import classes from './DocsSearch.module.css';
import type { Found, Search } from './searchIndex.ts';

const MOST = 6;

type State = { is: 'idle' } | { is: 'loading' } | { is: 'failed' } | { is: 'ready'; search: Search; of: string };

/** Searches docs and tutorials in the browser. The index comes when the field is first used. */
export function DocsSearch() {
  const t = useT();
  const { language } = useLanguage();
  const navigate = useNavigate();
  const list = useId();
  const field = useRef<HTMLInputElement>(null);
  const [typed, setTyped] = useState('');
  const [opened, setOpened] = useState(false);
  const [chosen, setChosen] = useState(0);
  const [state, setState] = useState<State>({ is: 'idle' });
  const stale = state.is === 'ready' && state.of !== language;
  const query = typed.trim();
  const found = state.is === 'ready' && query !== '' ? state.search(query).slice(0, MOST) : [];
  const shown = opened && query !== '';

  useEffect(() => {
    if (stale) setState({ is: 'idle' });
  }, [stale]);

  async function prepare(): Promise<void> {
    if (state.is === 'loading' || (state.is === 'ready' && !stale)) return;
    setState({ is: 'loading' });
    try {
      const { loadSearch } = await import('./searchIndex.ts');
      setState({ is: 'ready', search: await loadSearch(language), of: language });
    } catch (cause) {
      console.warn('The search index could not be loaded', cause);
      setState({ is: 'failed' });
    }
  }

  function go(to: Found | undefined): void {
    if (!to) return;
    setOpened(false);
    setTyped('');
    field.current?.blur();
    void navigate(to.address);
  }

  function press(event: KeyboardEvent): void {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step !== undefined && found.length > 0) {
      event.preventDefault();
      setChosen((chosen + step + found.length) % found.length);
    } else if (event.key === 'Enter') go(found[chosen]);
    else if (event.key === 'Escape') setOpened(false);
  }

  return (
    <search className={classes.search}>
      <TextInput
        ref={field}
        type="search"
        role="combobox"
        aria-label={t('Search the docs')}
        aria-expanded={shown}
        aria-controls={list}
        aria-autocomplete="list"
        aria-activedescendant={shown && found[chosen] ? `${list}-${chosen}` : undefined}
        placeholder={t('Search the docs')}
        autoComplete="off"
        leftSection={<IconSearch size={16} />}
        value={typed}
        onFocus={() => void prepare()}
        onBlur={() => setOpened(false)}
        onKeyDown={press}
        onChange={(event) => {
          setTyped(event.currentTarget.value);
          setChosen(0);
          setOpened(true);
          void prepare();
        }}
      />
      <div className={classes.found} hidden={!shown} data-testid="docs-found">
        <div id={list} role="listbox" aria-label={t('Pages found')}>
          {found.map(({ address, page, heading, excerpt }, index) => (
            // biome-ignore lint/a11y/useKeyWithClickEvents: the keys are those of the field
            // biome-ignore lint/a11y/useFocusableInteractive: the focus stays in the field, as of every combobox
            <div
              key={address}
              id={`${list}-${index}`}
              role="option"
              aria-selected={index === chosen}
              className={classes.option}
              onMouseDown={(event) => event.preventDefault()}
              onMouseEnter={() => setChosen(index)}
              onClick={() => go(found[index])}
            >
              <span className={classes.place}>
                {page}
                {heading && ` › ${heading}`}
              </span>
              <span className={classes.excerpt}>{excerpt}</span>
            </div>
          ))}
        </div>
        {found.length === 0 && (
          <p className={classes.none} role="status">
            {words()}
          </p>
        )}
      </div>
    </search>
  );

  function words(): string {
    switch (state.is) {
      case 'failed':
        return t('The search could not be loaded. Type again to retry.');
      case 'ready':
        return t('No page matches “{{search}}”', { search: query });
      default:
        return t('The search loads…');
    }
  }
}
