import '../i18n/englishPlurals.ts';
import { Modal } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { IconHistory, IconSearch } from '@tabler/icons-react';
import { type KeyboardEvent, useEffect, useId, useLayoutEffect, useRef, useState } from 'react';
import { useNavigate } from 'react-router';
import { useUserState } from '../api/user.ts';
import { type T, useT } from '../i18n/i18n.ts';
import { Keys } from '../keyboard/Keys.tsx';
import { takeKeystrokes } from '../keyboard/keystrokeBuffer.ts';
import { type OverlayProps, overlays } from '../keyboard/overlays.ts';
import { prefetch } from '../navigation/prefetch.ts';
import { CutText } from '../ui/CutText.tsx';
import { focusFirst, useHostedModal } from '../ui/dialogs/hostedModal.ts';
import classes from './Palette.module.css';
import { type PaletteGroup, type PaletteItem, usePageAndActionItems } from './paletteItems.tsx';
import { recentPlaces, rememberPlace } from './recentPlaces.ts';
import { matching } from './textMatch.ts';
import { useEntitySearch } from './useEntitySearch.tsx';

const TYPING_MS = 150;
/** Arrow keys prefetch an item only after a pause. */
const DWELL_MS = 80;

/** Finds pages, servers, storages, containers, projects, tasks and actions by typing a part of their name. */
export function Palette({ opened, onClose }: OverlayProps) {
  const t = useT();
  const hosted = useHostedModal(opened, { persistent: false, routed: false, onClose });
  return (
    <Modal
      {...hosted}
      // Without a transition: people type on right after the shortcut.
      transitionProps={{ duration: 0 }}
      withCloseButton={false}
      centered={false}
      yOffset="10vh"
      size={600}
      padding={0}
      attributes={{ content: { 'aria-label': t('Find anything'), 'data-palette': '' } }}
      classNames={{ content: classes.window }}
    >
      <div ref={focusFirst} className={classes.body}>
        <Finder onClose={onClose} />
      </div>
    </Modal>
  );
}

function Finder({ onClose }: { onClose(): void }) {
  const t = useT();
  const navigate = useNavigate();
  const listId = useId();
  const [typed, setTyped] = useState('');
  const [at, setAt] = useState(0);
  const { items, searching, remember } = useItems(typed.trim());
  const active = items[Math.min(at, items.length - 1)];
  const [isEntered, setIsEntered] = useState(false);
  const list = useRef<HTMLDivElement>(null);

  // biome-ignore lint/correctness/useExhaustiveDependencies: the active option is looked up anew when it changes
  useLayoutEffect(() => {
    const option = list.current?.querySelector('[aria-selected="true"]');
    // The heading of the first group comes along.
    if (at === 0) list.current?.scrollTo({ top: 0 });
    else option?.scrollIntoView({ block: 'nearest' });
  }, [active?.id, at]);

  useLayoutEffect(() => {
    const ahead = takeKeystrokes();
    setTyped((text) => text + ahead.text);
    if (ahead.isEntered) setIsEntered(true);
  }, []);
  // biome-ignore lint/correctness/useExhaustiveDependencies: once, for the key that came before the list
  useEffect(() => {
    if (!isEntered) return;
    setIsEntered(false);
    if (active) choose(active);
  }, [isEntered]);

  const next = active && 'to' in active.does ? active.does.to : null;
  useEffect(() => {
    if (next === null) return;
    const dwelling = window.setTimeout(() => prefetch(next), DWELL_MS);
    return () => window.clearTimeout(dwelling);
  }, [next]);

  function choose(item: PaletteItem, newTab = false): void {
    remember(item);
    if ('to' in item.does && newTab) {
      window.open(item.does.to, '_blank', 'noopener');
      return;
    }
    if ('to' in item.does) {
      onClose();
      void navigate(item.does.to);
    } else if ('opens' in item.does) overlays.open(item.does.opens);
    else {
      onClose();
      item.does.run();
    }
  }

  function press(event: KeyboardEvent): void {
    if (event.nativeEvent.isComposing) return;
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step !== undefined && items.length > 0) {
      event.preventDefault();
      setAt((Math.min(at, items.length - 1) + step + items.length) % items.length);
    } else if (event.key === 'Enter' && active) {
      event.preventDefault();
      choose(active, event.ctrlKey || event.metaKey);
    }
  }

  return (
    <>
      <div className={classes.search}>
        <IconSearch size={18} aria-hidden="true" />
        <input
          className={classes.input}
          data-autofocus
          data-testid="palette-input"
          role="combobox"
          aria-expanded="true"
          aria-autocomplete="list"
          aria-controls={listId}
          aria-activedescendant={active && optionId(listId, active)}
          aria-label={t('Find a page, a server, a storage, a container or an action')}
          placeholder={t('Find a page, a server, a storage, a container or an action')}
          // A phone has no room for all of it.
          title={t('Find a page, a server, a storage, a container or an action')}
          autoComplete="off"
          spellCheck={false}
          value={typed}
          onChange={(event) => {
            setTyped(event.currentTarget.value);
            setAt(0);
          }}
          onKeyDown={press}
        />
      </div>
      <div ref={list} id={listId} role="listbox" aria-label={t('Results')} className={classes.list}>
        {groupsOf(items).map(([group, members]) => (
          // biome-ignore lint/a11y/useSemanticElements: a group of options in a list box
          <div key={group} role="group" aria-label={groupTitle(t, group)}>
            <div className={classes.heading} aria-hidden="true">
              {groupTitle(t, group)}
            </div>
            {members.map((item) => (
              <Option
                key={item.id}
                id={optionId(listId, item)}
                item={item}
                active={item === active}
                onPoint={() => setAt(items.indexOf(item))}
                onChoose={(newTab) => choose(item, newTab)}
              />
            ))}
          </div>
        ))}
      </div>
      {items.length === 0 && !searching && <p className={classes.none}>{t('No matches')}</p>}
      <p className="visually-hidden" role="status">
        {items.length === 0 ? (searching ? '' : t('No matches')) : t('{{count}} results', { count: items.length })}
      </p>
    </>
  );
}

interface OptionProps {
  id: string;
  item: PaletteItem;
  active: boolean;
  onPoint(): void;
  onChoose(newTab: boolean): void;
}

function Option({ id, item, active, onPoint, onChoose }: OptionProps) {
  const t = useT();
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents lint/a11y/useFocusableInteractive: the keys are pressed in the search field, which keeps the focus
    <div
      id={id}
      role="option"
      aria-selected={active}
      className={classes.option}
      data-testid="palette-option"
      onPointerMove={onPoint}
      onMouseDown={(event) => event.preventDefault()}
      onClick={(event) => onChoose(event.ctrlKey || event.metaKey)}
    >
      <span className={classes.icon} aria-hidden="true">
        {item.icon}
      </span>
      <CutText className={classes.label}>{item.label}</CutText>
      {SEARCHED.includes(item.group) ? (
        <CutText className={`mono muted ${classes.slug}`}>{item.words ?? ''}</CutText>
      ) : null}
      <span className={classes.detail}>{item.detail}</span>
      {item.keys && <Keys keys={item.keys} then={t('then')} />}
    </div>
  );
}

/** Without a query: what was chosen last, pages, actions. With one: what answers it, the best of each group first. */
function useItems(query: string) {
  const state = useUserState();
  const clientId = state.is === 'signed-in' ? (state.user.workspace?.clientId ?? null) : null;
  const fixed = usePageAndActionItems();
  const [asked] = useDebouncedValue(query, TYPING_MS);
  const { items: entities, searching } = useEntitySearch(query === '' ? '' : asked);
  const found = matching(fixed, query, ({ label, words }) => [label, words ?? '']);
  const items =
    query === ''
      ? [...recentItems(clientId, fixed), ...fixed]
      : inGroups([...found, ...entities], groupOrder(found[0]?.group));
  return {
    items,
    searching: searching || query !== asked,
    remember: ({ id, label, detail, does }: PaletteItem) =>
      rememberPlace(clientId, {
        id: id.replace(/^recent:/, ''),
        label,
        detail: typeof detail === 'string' ? detail : '',
        to: 'to' in does ? does.to : null,
      }),
  };
}

/** Pages and actions as they are called now; a server or container under the name it had. */
function recentItems(clientId: number | null, fixed: readonly PaletteItem[]): PaletteItem[] {
  return recentPlaces(clientId).flatMap(({ id, label, detail, to }): PaletteItem[] => {
    const now = fixed.find((item) => item.id === id);
    const item = now ?? (to ? { id, group: 'pages', label, detail, icon: <IconHistory />, does: { to } } : null);
    return item ? [{ ...item, id: `recent:${id}`, group: 'recent' }] : [];
  });
}

function groupOrder(best: PaletteGroup | undefined): PaletteGroup[] {
  return best === 'actions' ? ['actions', 'pages', ...SEARCHED] : ['pages', ...SEARCHED, 'actions'];
}

const inGroups = (items: readonly PaletteItem[], order: readonly PaletteGroup[]) =>
  order.flatMap((group) => items.filter((item) => item.group === group));

function groupsOf(items: readonly PaletteItem[]): [PaletteGroup, PaletteItem[]][] {
  return Object.entries(Object.groupBy(items, ({ group }) => group)) as [PaletteGroup, PaletteItem[]][];
}

function groupTitle(t: T, group: PaletteGroup): string {
  switch (group) {
    case 'recent':
      return t('Recent');
    case 'pages':
      return t('Go to');
    case 'servers':
      return t('Servers');
    case 'storages':
      return t('Storages');
    case 'containers':
      return t('Containers');
    case 'projects':
      return t('Projects');
    case 'tasks':
      return t('Tasks');
    case 'actions':
      return t('Actions');
  }
}

/** Groups of entities, found by the server; their Unique ID is shown beside the title. */
const SEARCHED: readonly PaletteGroup[] = ['servers', 'storages', 'containers', 'projects', 'tasks'];

const optionId = (listId: string, item: PaletteItem) => `${listId}-${item.id}`;
