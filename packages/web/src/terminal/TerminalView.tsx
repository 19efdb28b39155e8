import { Tabs } from '@mantine/core';
import { SHELLS, type Shell } from '@stagi/contract/terminals.ts';
import {
  IconAccessible,
  IconMaximize,
  IconMinimize,
  IconPlus,
  IconSearch,
  IconTerminal2,
  IconX,
} from '@tabler/icons-react';
import { useEffect, useState } from 'react';
import { useT } from '../i18n/i18n.ts';
import ansi from '../ui/ansiColours.module.css';
import { Button } from '../ui/Button.tsx';
import { DropdownMenu } from '../ui/DropdownMenu.tsx';
import { EmptyState } from '../ui/EmptyState.tsx';
import { IconButton } from '../ui/IconButton.tsx';
import { Note } from '../ui/Note.tsx';
import type { Place } from './connection.ts';
import { keep, readKept } from './keptSessions.ts';
import { fresh, type OpenTerminal } from './openTerminal.ts';
import classes from './Terminal.module.css';
import { TerminalPane } from './TerminalPane.tsx';
import { TerminalState } from './TerminalState.tsx';
import { unsupportedBrowser } from './unsupportedBrowser.ts';

interface Props {
  place: Place;
  /** Why none can be opened now. */
  refusal: string | null;
}

/** The shells of a container or of a server, each in a tab. The first opens by itself. */
export function TerminalView({ place, refusal }: Props) {
  const t = useT();
  const browser = unsupportedBrowser(navigator.userAgent);
  const [open, setOpen] = useState<OpenTerminal[]>(() => {
    if (browser) return [];
    const kept = readKept(place).map((one) => ({ ...fresh(one.shell), session: one.session, isResumed: true }));
    return kept.length > 0 || refusal !== null ? kept : [fresh(null)];
  });
  const [chosen, setChosen] = useState(open[0]?.session ?? null);
  const [isSearching, setSearching] = useState(false);
  const [isRead, setRead] = useState(false);
  // Not the browser's own full screen: Escape leaves that, and belongs to programs here.
  const [isFull, setFull] = useState(false);
  const { type, id } = place;
  useEffect(() => {
    const running = open.filter(({ state }) => !['ended', 'refused', 'noAccess'].includes(state.is));
    keep({ type, id }, running);
  }, [type, id, open]);
  const shown = open.find(({ session }) => session === chosen) ?? open[0] ?? null;

  function change(session: string, part: Partial<OpenTerminal>): void {
    setOpen((all) => all.map((one) => (one.session === session ? { ...one, ...part } : one)));
  }
  function add(shell: Shell | null): void {
    const one = fresh(shell);
    setOpen((all) => [...all, one]);
    setChosen(one.session);
  }
  function close(session: string): void {
    const at = open.findIndex((one) => one.session === session);
    const left = open.filter((one) => one.session !== session);
    setOpen(left);
    if (session === shown?.session) setChosen(left[Math.max(0, at - 1)]?.session ?? null);
  }
  function startAgain({ session, shell }: OpenTerminal): void {
    const one = fresh(shell);
    setOpen((all) => all.map((each) => (each.session === session ? one : each)));
    setChosen(one.session);
  }

  if (browser)
    return (
      <Note tone="warn" title={t('The console is not supported in {{browser}}', { browser })}>
        {t('Open this page in another browser.')}
      </Note>
    );
  if (!shown)
    return (
      <EmptyState
        icon={<IconTerminal2 size={20} />}
        title={refusal === null ? t('No terminal is open') : t('No terminal can be opened now')}
        action={
          <Button reason={refusal === null ? null : t(refusal)} onClick={() => add(null)} data-testid="terminal-open">
            {t('Open a terminal')}
          </Button>
        }
      >
        {refusal === null ? t('What you run here goes on for two minutes when you leave.') : t(refusal)}
      </EmptyState>
    );
  return (
    <section
      className={`${classes.view} ${ansi.colours}`}
      aria-label={t('Terminal')}
      data-full={isFull || undefined}
      data-fills-window
    >
      <Tabs
        value={shown.session}
        onChange={(session) => setChosen(session)}
        keepMounted
        classNames={{ root: classes.root!, list: classes.tabs!, tab: classes.tab!, panel: classes.panel! }}
      >
        <div className={classes.bar}>
          <Tabs.List aria-label={t('Terminals')}>
            {open.map((one, index) => (
              <Tabs.Tab key={one.session} value={one.session} data-testid="terminal-tab">
                {nameOf(one, index)}
              </Tabs.Tab>
            ))}
          </Tabs.List>
          <DropdownMenu
            items={() => [
              { label: t('The first shell that exists'), onClick: () => add(null), testId: 'terminal-new-auto' },
              ...SHELLS.map((shell) => ({
                label: shell,
                onClick: () => add(shell),
                testId: `terminal-new-${shell}`,
              })),
            ]}
          >
            <IconButton
              label={t('New terminal')}
              size="xs"
              plain
              reason={refusal === null ? null : t(refusal)}
              data-testid="terminal-new"
            >
              <IconPlus size={16} />
            </IconButton>
          </DropdownMenu>
          <span className={classes.tools}>
            <TerminalState state={shown.state} />
            <IconButton
              label={t('Search')}
              size="xs"
              aria-pressed={isSearching}
              onClick={() => setSearching(!isSearching)}
              data-testid="terminal-search"
            >
              <IconSearch size={16} />
            </IconButton>
            <IconButton
              label={t('Read the output to screen readers')}
              size="xs"
              aria-pressed={isRead}
              onClick={() => setRead(!isRead)}
              data-testid="terminal-read"
            >
              <IconAccessible size={16} />
            </IconButton>
            <IconButton
              label={isFull ? t('Leave full screen') : t('Full screen')}
              size="xs"
              aria-pressed={isFull}
              onClick={() => setFull(!isFull)}
              data-testid="terminal-full-screen"
            >
              {isFull ? <IconMinimize size={16} /> : <IconMaximize size={16} />}
            </IconButton>
            <IconButton
              label={t('Close this terminal')}
              size="xs"
              onClick={() => close(shown.session)}
              data-testid="terminal-close"
            >
              <IconX size={16} />
            </IconButton>
          </span>
        </div>
        {open.map((one) => (
          <Tabs.Panel key={one.session} value={one.session}>
            <TerminalPane
              place={place}
              terminal={one}
              isShown={one.session === shown.session}
              isSearching={isSearching}
              onSearching={setSearching}
              isRead={isRead}
              refusal={refusal}
              change={(part) => change(one.session, part)}
              onStartAgain={() => startAgain(one)}
            />
          </Tabs.Panel>
        ))}
      </Tabs>
    </section>
  );

  function nameOf({ title, shell }: OpenTerminal, index: number): string {
    const name = title ?? shell;
    if (name === null) return t('Terminal {{number}}', { number: index + 1 });
    return open.filter((one) => (one.title ?? one.shell) === name).length > 1 ? `${name} ${index + 1}` : name;
  }
}
