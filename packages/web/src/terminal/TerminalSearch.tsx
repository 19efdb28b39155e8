import { IconChevronDown, IconChevronUp, IconX } from '@tabler/icons-react';
import { type RefObject, useEffect, useState } from 'react';
import { useT } from '../i18n/i18n.ts';
import { TextInput } from '../ui/form/TextInput.tsx';
import { IconButton } from '../ui/IconButton.tsx';
import { takeFocus } from '../ui/takeFocus.ts';
import type { Screen } from './screen.ts';
import classes from './Terminal.module.css';

interface Props {
  screen: RefObject<Screen | null>;
  onClose(): void;
}

/** Searches what the terminal has kept of its output. Enter goes up, to what came before; Shift+Enter down. */
export function TerminalSearch({ screen, onClose }: Props) {
  const t = useT();
  const [text, setText] = useState('');
  const [found, setFound] = useState<{ index: number; count: number } | null>(null);
  useEffect(() => {
    const results = screen.current?.search.onDidChangeResults(({ resultIndex, resultCount }) =>
      setFound({ index: resultIndex + 1, count: resultCount }),
    );
    const opened = screen.current;
    return () => {
      results?.dispose();
      opened?.search.clearDecorations();
    };
  }, [screen]);

  function find(what: string, direction: 'up' | 'down', incremental = false): void {
    const { search, terminal } = screen.current ?? {};
    if (!search || !terminal) return;
    if (what === '') {
      search.clearDecorations();
      setFound(null);
      return;
    }
    const options = { decorations: { matchOverviewRuler: '#b37900', activeMatchColorOverviewRuler: '#b37900' } };
    if (direction === 'up') search.findPrevious(what, options);
    else search.findNext(what, { ...options, incremental });
  }

  return (
    <search className={classes.search}>
      <TextInput
        size="xs"
        aria-label={t('Search the terminal')}
        placeholder={t('Search')}
        value={text}
        ref={takeFocus}
        onChange={(event) => {
          setText(event.currentTarget.value);
          find(event.currentTarget.value, 'up', true);
        }}
        onKeyDown={(event) => {
          if (event.key === 'Escape') onClose();
          if (event.key === 'Enter') find(text, event.shiftKey ? 'down' : 'up');
        }}
        data-testid="terminal-search-text"
      />
      <span className={classes.found} role="status" data-testid="terminal-found">
        {found && text !== '' && (found.count === 0 ? t('No matches') : `${found.index} / ${found.count}`)}
      </span>
      <IconButton label={t('Previous match')} onClick={() => find(text, 'up')}>
        <IconChevronUp size={16} />
      </IconButton>
      <IconButton label={t('Next match')} onClick={() => find(text, 'down')}>
        <IconChevronDown size={16} />
      </IconButton>
      <IconButton label={t('Close the search')} onClick={onClose}>
        <IconX size={16} />
      </IconButton>
    </search>
  );
}
