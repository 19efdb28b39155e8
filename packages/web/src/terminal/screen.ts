import { FitAddon } from '@xterm/addon-fit';
import { SearchAddon } from '@xterm/addon-search';
import { Unicode11Addon } from '@xterm/addon-unicode11';
import { WebLinksAddon } from '@xterm/addon-web-links';
import { type ITheme, Terminal } from '@xterm/xterm';
import { t } from '../i18n/i18n.ts';

const FONT = "'JetBrains Mono Variable', ui-monospace, monospace";
const SCROLLBACK = 10_000;
const ANSI = [
  'black',
  'red',
  'green',
  'yellow',
  'blue',
  'magenta',
  'cyan',
  'white',
  'brightBlack',
  'brightRed',
  'brightGreen',
  'brightYellow',
  'brightBlue',
  'brightMagenta',
  'brightCyan',
  'brightWhite',
] as const;

export interface Screen {
  terminal: Terminal;
  search: SearchAddon;
  fit(): void;
  /** Takes the colours that the page has now. */
  takeColours(): void;
  dispose(): void;
}

/** For screen readers. They belong to all terminals of the page, and follow the language at the next one. */
function translateStrings(): void {
  Terminal.strings.promptLabel = t('Terminal input');
  Terminal.strings.tooMuchOutput = t('Too much output to announce, navigate to rows manually to read');
}

/** A terminal of xterm in an element of the page. */
export function openScreen(host: HTMLElement, { fontSize }: { fontSize: number }): Screen {
  translateStrings();
  const terminal = new Terminal({
    allowProposedApi: true,
    cursorBlink: !window.matchMedia('(prefers-reduced-motion: reduce)').matches,
    fontFamily: FONT,
    fontSize,
    lineHeight: 1.2,
    scrollback: SCROLLBACK,
    macOptionIsMeta: true,
    minimumContrastRatio: 4.5,
    theme: coloursOf(host),
  });
  const fit = new FitAddon();
  const search = new SearchAddon();
  terminal.loadAddon(fit);
  terminal.loadAddon(search);
  terminal.loadAddon(new WebLinksAddon((_, uri) => window.open(uri, '_blank', 'noopener,noreferrer')));
  terminal.loadAddon(new Unicode11Addon());
  terminal.unicode.activeVersion = '11';
  terminal.open(host);
  const refit = (): void => {
    // Hidden: it has no size.
    if (host.clientWidth > 0 && host.clientHeight > 0) fit.fit();
  };
  refit();
  // Cells are measured anew with the right font.
  document.fonts.load(`${fontSize}px ${FONT}`).then(
    () => {
      terminal.options.fontFamily = `${FONT}, monospace`;
      refit();
    },
    (cause: unknown) => console.debug('The font of terminals did not come', cause),
  );
  return {
    terminal,
    search,
    fit: refit,
    takeColours() {
      terminal.options.theme = coloursOf(host);
    },
    dispose: () => terminal.dispose(),
  };
}

function coloursOf(host: HTMLElement): ITheme {
  const styles = getComputedStyle(host);
  const read = (name: string): string => styles.getPropertyValue(name).trim();
  return {
    background: read('--terminal-ground'),
    foreground: read('--text'),
    cursor: read('--text'),
    cursorAccent: read('--terminal-ground'),
    selectionBackground: read('--terminal-selection'),
    ...Object.fromEntries(ANSI.map((name, index) => [name, read(`--ansi-${index}`)])),
  };
}
