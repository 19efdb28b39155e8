import { type CSSProperties, memo, type ReactNode } from 'react';
import { useT } from '../i18n/i18n.ts';
import { parseAnsi, type StyledRun, type TextStyle } from './ansi.ts';
import classes from './Logs.module.css';

/** Browsers lay out very long lines slowly. Copy and download have the whole line. */
const SHOWN_MAX = 10_000;

/** A printed line with its colours and the marked matches of the search. */
export const LineText = memo(function LineText({ text, search }: { text: string; search: string }) {
  const t = useT();
  const cut = text.length > SHOWN_MAX ? text.slice(0, SHOWN_MAX) : text;
  const runs = parseAnsi(cut);
  return (
    <>
      {search === '' ? runs.map((stretch, index) => shown(stretch, index)) : marked(runs, search)}
      {cut !== text && (
        <span className={classes.cut}>{t('… {{count}} more characters', { count: text.length - cut.length })}</span>
      )}
    </>
  );
});

function marked(runs: readonly StyledRun[], search: string): ReactNode[] {
  const plain = runs
    .map(({ text }) => text)
    .join('')
    .toLowerCase();
  const needle = search.toLowerCase();
  const found: number[] = [];
  for (let at = plain.indexOf(needle); at >= 0; at = plain.indexOf(needle, at + needle.length)) found.push(at);

  const parts: ReactNode[] = [];
  let begin = 0;
  for (const { text, look } of runs) {
    const end = begin + text.length;
    let at = begin;
    for (const start of found) {
      const from = Math.max(start, at);
      const to = Math.min(start + needle.length, end);
      if (from >= to) continue;
      if (from > at) parts.push(shown({ text: text.slice(at - begin, from - begin), look }, parts.length));
      parts.push(<mark key={parts.length}>{text.slice(from - begin, to - begin)}</mark>);
      at = to;
    }
    if (at < end) parts.push(shown({ text: text.slice(at - begin), look }, parts.length));
    begin = end;
  }
  return parts;
}

function shown({ text, look }: StyledRun, key: number): ReactNode {
  if (Object.keys(look).length === 0) return text;
  return (
    <span key={key} style={styleOf(look)}>
      {text}
    </span>
  );
}

function styleOf({ bold, dim, italic, underline, inverse, ...look }: TextStyle): CSSProperties {
  const color = paint(inverse ? (look.background ?? 'var(--log-ground)') : look.color);
  const background = paint(inverse ? (look.color ?? 'var(--text)') : look.background);
  return {
    color,
    backgroundColor: background,
    fontWeight: bold ? 700 : undefined,
    opacity: dim ? 0.7 : undefined,
    fontStyle: italic ? 'italic' : undefined,
    textDecoration: underline ? 'underline' : undefined,
  };
}

function paint(color: number | string | undefined): string | undefined {
  return typeof color === 'number' ? `var(--ansi-${color})` : color;
}
