import { type CSSProperties, type MouseEvent, useEffect, useMemo, useRef } from 'react';
import { useT } from '../../../i18n/i18n.ts';
import type { Language } from '../highlight/languages.ts';
import { useHighlighting } from '../highlight/useHighlighting.ts';
import classes from './Code.module.css';
import { CodeSlab } from './CodeSlab.tsx';
import { type Blame, type Lines, linesOf } from './lines.ts';

interface Props {
  text: string;
  language: Language | null;
  /** Names the place for screen readers. */
  label: string;
  marked: Lines | null;
  /** With Shift the range reaches from the line that was marked before. */
  onMark(lines: Lines): void;
  blame?: Blame;
}

/** Lines that are rendered together: those far from the window stay one piece of text. */
const SLAB = 100;
/** px, as in the style sheet. */
const LINE_HEIGHT = 20;
/** Of the window of the code, above a line that an address names. */
const ABOVE = 0.25;

/**
 * A text with line numbers. All of it is in the document, so that the browser's search finds it; only near the window
 * it has colours and links.
 */
export function CodeView({ text, language, label, marked, onMark, blame }: Props) {
  const t = useT();
  const frame = useRef<HTMLElement>(null);
  const lines = useMemo(() => linesOf(text), [text]);
  const highlighting = useHighlighting(text, language);
  const starts = useMemo(
    () => Array.from({ length: Math.ceil(lines.length / SLAB) }, (_, index) => index * SLAB),
    [lines],
  );
  const shownFrom = useRef<number | null>(null);

  // Where an address with lines is opened, they are brought into sight; a click on a number moves nothing.
  useEffect(() => {
    const element = frame.current;
    if (!element || !marked || shownFrom.current === marked.from) return;
    shownFrom.current = marked.from;
    const top = (marked.from - 1) * LINE_HEIGHT;
    const isInSight = top >= element.scrollTop && top < element.scrollTop + element.clientHeight - LINE_HEIGHT;
    if (!isInSight) element.scrollTop = Math.max(0, top - element.clientHeight * ABOVE);
  }, [marked]);

  function mark(event: MouseEvent): void {
    const number = Number((event.target as Element).closest<HTMLElement>('[data-line]')?.dataset.line);
    if (!number || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    shownFrom.current = number;
    const other = event.shiftKey && marked ? marked.from : number;
    if (event.shiftKey && marked) shownFrom.current = Math.min(number, other);
    onMark({ from: Math.min(number, other), to: Math.max(number, other) });
  }

  if (lines.length === 0) return <p className={classes.empty}>{t('This file is empty.')}</p>;
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: the box for lines does the same by keyboard
    <section
      ref={frame}
      className={classes.frame}
      aria-label={label}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: the keyboard scrolls it
      tabIndex={0}
      onClick={mark}
      data-testid="code"
      style={{ '--digits': String(lines.length).length } as CSSProperties}
    >
      {starts.map((start) => (
        <CodeSlab
          key={start}
          frame={frame}
          start={start}
          lines={lines.slice(start, start + SLAB)}
          highlighting={highlighting}
          marked={overlap(marked, start + 1, start + SLAB)}
          blame={blame}
        />
      ))}
    </section>
  );
}

/** Null, or the part of the lines between two others: a slab that has none of them is not rendered anew. */
function overlap(lines: Lines | null, first: number, last: number): string {
  if (!lines || lines.to < first || lines.from > last) return '';
  return `${Math.max(first, lines.from)}-${Math.min(last, lines.to)}`;
}
