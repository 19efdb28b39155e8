import { useComputedColorScheme, VisuallyHidden } from '@mantine/core';
import { useMediaQuery } from '@mantine/hooks';
import { useEffect, useEffectEvent, useRef, useState } from 'react';
import { useT } from '../i18n/i18n.ts';
import { toast } from '../ui/toasts.ts';
import { type Connection, connectTerminal, type Place } from './connection.ts';
import { KeyRow } from './KeyRow.tsx';
import type { OpenTerminal } from './openTerminal.ts';
import { openScreen, type Screen } from './screen.ts';
import classes from './Terminal.module.css';
import { TerminalEnd } from './TerminalEnd.tsx';
import { TerminalSearch } from './TerminalSearch.tsx';
import '@xterm/xterm/css/xterm.css';

/** How much output is shown before the server is told. */
const SHOWN_EVERY_BYTES = 64 * 1024;
const NARROW = '(max-width: 40em)';
const TOUCH = '(pointer: coarse), (max-width: 40em)';

interface Props {
  place: Place;
  terminal: OpenTerminal;
  isShown: boolean;
  isSearching: boolean;
  onSearching(isSearching: boolean): void;
  /** Its output is put where screen readers find it. */
  isRead: boolean;
  refusal: string | null;
  change(part: Partial<OpenTerminal>): void;
  onStartAgain(): void;
}

/** One shell: its screen, and its connection, which ends with it. */
export function TerminalPane(props: Props) {
  const { place, terminal, isShown, isSearching, onSearching, isRead, refusal, onStartAgain } = props;
  const t = useT();
  const host = useRef<HTMLDivElement>(null);
  const leaving = useRef<HTMLDivElement>(null);
  const screen = useRef<Screen>(null);
  const connection = useRef<Connection>(null);
  const [control, setControl] = useState(false);
  const scheme = useComputedColorScheme('light');
  const isNarrow = useMediaQuery(NARROW, false, { getInitialValueInEffect: false });
  const isTouch = useMediaQuery(TOUCH, false, { getInitialValueInEffect: false });
  const change = useEffectEvent(props.change);
  const pressed = useEffectEvent((event: KeyboardEvent) => shortcut(event));
  const typed = useEffectEvent((input: string) => {
    connection.current?.type(control ? controlled(input) : input);
    setControl(false);
  });
  const { session, shell, isResumed } = terminal;
  const { type, id } = place;

  useEffect(() => {
    const opened = openScreen(host.current!, { fontSize: isNarrow ? 12 : 13 });
    const { terminal: xterm } = opened;
    let acknowledged = 0;
    let shown = 0;
    let replayed = 0;
    const link = connectTerminal(
      { type, id },
      { session, shell, isResumed },
      {
        state: (state) => change({ state }),
        shell: (title) => change({ title }),
        output(bytes, end) {
          const begin = end - bytes.length;
          const cut = Math.min(Math.max(replayed - begin, 0), bytes.length);
          if (cut > 0)
            xterm.write(bytes.subarray(0, cut), () => {
              shown = begin + cut;
            });
          xterm.write(bytes.subarray(cut), () => {
            shown = end;
            if (end - acknowledged < SHOWN_EVERY_BYTES && end > acknowledged) return;
            acknowledged = end;
            link.shown(end);
          });
        },
        replayed(to) {
          replayed = to;
        },
        restarted(dropped) {
          acknowledged = 0;
          xterm.reset();
          if (dropped > 0) xterm.write(`\x1b[2m… ${dropped.toLocaleString()} B …\x1b[0m\r\n`);
        },
        size: () => ({ cols: xterm.cols, rows: xterm.rows }),
      },
    );
    const listening = [
      xterm.onData((input) => {
        // The answer to a question that was shown before: the program would read it as typed.
        if (shown < replayed && input.startsWith('\x1b')) return;
        typed(input);
      }),
      xterm.onBinary((input) => link.typeBytes(Uint8Array.from(input, (character) => character.charCodeAt(0)))),
      xterm.onResize(({ cols, rows }) => link.resize({ cols, rows })),
      xterm.onTitleChange((title) => title !== '' && change({ title })),
    ];
    xterm.attachCustomKeyEventHandler((event) => event.type !== 'keydown' || pressed(event));
    const copying = copyOnSelection(opened);
    const observer = new ResizeObserver(() => opened.fit());
    observer.observe(host.current!);
    screen.current = opened;
    connection.current = link;
    return () => {
      observer.disconnect();
      copying();
      for (const one of listening) one.dispose();
      link.leave();
      opened.dispose();
      screen.current = null;
      connection.current = null;
    };
  }, [type, id, session, shell, isResumed, isNarrow]);

  // biome-ignore lint/correctness/useExhaustiveDependencies: the colours of the page change with the theme
  useEffect(() => screen.current?.takeColours(), [scheme]);
  useEffect(() => {
    if (screen.current) screen.current.terminal.options.screenReaderMode = isRead;
  }, [isRead]);
  useEffect(() => {
    if (!isShown) return;
    screen.current?.fit();
    screen.current?.terminal.focus();
  }, [isShown]);

  return (
    <div className={classes.pane}>
      {isSearching && isShown && (
        <TerminalSearch
          screen={screen}
          onClose={() => {
            onSearching(false);
            screen.current?.terminal.focus();
          }}
        />
      )}
      {/* xterm takes Tab for itself: the keys that leave it are said to whoever gets in by keyboard. */}
      <VisuallyHidden id={`leave-${session}`}>{t('Ctrl+Shift+E leaves the terminal.')}</VisuallyHidden>
      <div ref={host} className={classes.screen} aria-describedby={`leave-${session}`} data-testid="terminal-screen" />
      <div ref={leaving} tabIndex={-1} className={classes.way}>
        <TerminalEnd
          state={terminal.state}
          refusal={refusal}
          onRetry={() => connection.current?.retry()}
          onStartAgain={onStartAgain}
        />
        {isTouch && (
          <KeyRow
            control={control}
            onControl={setControl}
            onKey={(keys) => {
              typed(keys);
              screen.current?.terminal.focus();
            }}
            isApplication={() => screen.current?.terminal.modes.applicationCursorKeysMode ?? false}
            onPaste={() => void paste()}
          />
        )}
      </div>
    </div>
  );

  /** False: the key does not reach the shell. */
  function shortcut(event: KeyboardEvent): boolean {
    if (!event.ctrlKey || !event.shiftKey || event.altKey || event.metaKey) return true;
    // The browser itself pastes: it needs no permission, and keys pressed afterwards cannot overtake the text.
    if (event.code === 'KeyV') return false;
    if (event.code === 'KeyC') void copy();
    else if (event.code === 'KeyF') onSearching(true);
    else if (event.code === 'KeyE') leaving.current?.focus();
    else return true;
    event.preventDefault();
    return false;
  }

  async function copy(): Promise<void> {
    await copyText(screen.current?.terminal.getSelection() ?? '');
  }

  async function paste(): Promise<void> {
    try {
      // In brackets where the program asks for it: what is pasted is not run line by line.
      screen.current?.terminal.paste(await navigator.clipboard.readText());
    } catch (cause) {
      console.warn('The browser refuses to paste', cause);
      toast.error(t('The browser did not allow pasting'));
    }
  }

  async function copyText(selected: string): Promise<void> {
    if (selected === '') return;
    try {
      await navigator.clipboard.writeText(selected);
    } catch (cause) {
      console.warn('The browser refuses to copy', cause);
      toast.error(t('The browser did not allow copying'));
    }
  }
}

/**
 * What the pointer has selected is copied; what the search selects is not. A browser that refuses says nothing:
 * Ctrl+Shift+C does.
 */
function copyOnSelection({ terminal }: Screen): () => void {
  const { element } = terminal;
  const copy = (): void => {
    const selected = terminal.getSelection();
    if (selected === '') return;
    navigator.clipboard
      ?.writeText(selected)
      .catch((cause: unknown) => console.debug('The selection was not copied', cause));
  };
  // xterm selects with the events of the mouse, which come after these.
  const released = (): void => void window.setTimeout(copy);
  const pressed = (): void => window.addEventListener('pointerup', released, { once: true });
  element?.addEventListener('pointerdown', pressed);
  return () => {
    element?.removeEventListener('pointerdown', pressed);
    window.removeEventListener('pointerup', released);
  };
}

/** With Ctrl: the control character of a letter. */
function controlled(input: string): string {
  const code = input.toUpperCase().charCodeAt(0);
  return code >= 64 && code <= 95 ? String.fromCharCode(code - 64) + input.slice(1) : input;
}
