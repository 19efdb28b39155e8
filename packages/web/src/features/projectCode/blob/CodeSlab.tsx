import { memo, type RefObject, useEffect, useRef, useState, useSyncExternalStore } from 'react';
import type { Highlighting } from '../highlight/Highlighting.ts';
import { Tokens } from '../highlight/Tokens.tsx';
import classes from './Code.module.css';
import type { Blame } from './lines.ts';

interface Props {
  frame: RefObject<HTMLElement | null>;
  /** From 0. */
  start: number;
  lines: readonly string[];
  highlighting: Highlighting;
  /** `12-20`: the numbers of marked lines in this slab; empty: none. */
  marked: string;
  blame: Blame | undefined;
}

const LINE_HEIGHT = 20;
/** How far outside the window lines are rendered already. */
const NEAR = '800px';

/** Some lines that follow each other. */
export const CodeSlab = memo(function CodeSlab({ frame, start, lines, highlighting, marked, blame }: Props) {
  const slab = useRef<HTMLDivElement>(null);
  const [isNear, setIsNear] = useState(start === 0);
  const isColoured = useSyncExternalStore(
    highlighting.subscribe,
    () => isNear && highlighting.lines.length >= start + lines.length,
  );
  useEffect(() => {
    const element = slab.current;
    if (!element) return;
    const observer = new IntersectionObserver(([entry]) => entry && setIsNear(entry.isIntersecting), {
      root: frame.current,
      rootMargin: NEAR,
    });
    observer.observe(element);
    return () => observer.disconnect();
  }, [frame]);
  const [from = 0, to = 0] = marked === '' ? [] : marked.split('-').map(Number);
  const numbers = lines.map((_, at) => start + at + 1);
  return (
    <div ref={slab} className={classes.slab} style={{ minHeight: lines.length * LINE_HEIGHT }}>
      {blame && (
        <div className={classes.blame}>
          {isNear &&
            blame.ranges
              .filter(({ line, lines: count }) => line <= start + lines.length && line + count > start + 1)
              .map((range) => {
                const top = Math.max(range.line, start + 1);
                const bottom = Math.min(range.line + range.lines, start + lines.length + 1);
                return (
                  <div
                    key={range.line}
                    className={classes.range}
                    data-first={range.line === top || undefined}
                    style={{ top: (top - start - 1) * LINE_HEIGHT, height: (bottom - top) * LINE_HEIGHT }}
                  >
                    {blame.cell(range)}
                  </div>
                );
              })}
        </div>
      )}
      <div className={classes.numbers}>
        {isNear
          ? numbers.map((number) => (
              // Thousands of stops of the Tab key would help nobody.
              <a key={number} href={`#L${number}`} data-line={number} tabIndex={-1} draggable={false}>
                {number}
              </a>
            ))
          : numbers.join('\n')}
      </div>
      <div className={classes.lines}>
        {isNear
          ? lines.map((line, at) => {
              const number = start + at + 1;
              return (
                <span
                  key={number}
                  className={classes.line}
                  data-marked={(number >= from && number <= to) || undefined}
                  data-testid="code-line"
                >
                  <Tokens text={line} tokens={isColoured ? highlighting.lines[start + at] : undefined} />
                  {'\n'}
                </span>
              );
            })
          : lines.join('\n')}
      </div>
    </div>
  );
});
