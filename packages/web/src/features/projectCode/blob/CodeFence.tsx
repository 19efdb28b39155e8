import { useSyncExternalStore } from 'react';
import { CopyButton } from '../../../ui/CopyButton.tsx';
import type { Language } from '../highlight/languages.ts';
import { Tokens } from '../highlight/Tokens.tsx';
import { useHighlighting } from '../highlight/useHighlighting.ts';
import classes from './Code.module.css';

/** A piece of code in a text. */
export function CodeFence({ text, language }: { text: string; language: Language | null }) {
  const highlighting = useHighlighting(text, language);
  const count = useSyncExternalStore(highlighting.subscribe, () => highlighting.lines.length);
  return (
    <div className={classes.fence}>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: the keyboard scrolls it */}
      <pre tabIndex={0}>
        <code>
          {text.split('\n').map((line, at) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: a line is its place
            <span key={at}>
              <Tokens text={line} tokens={at < count ? highlighting.lines[at] : undefined} />
              {'\n'}
            </span>
          ))}
        </code>
      </pre>
      <div className={classes.fenceCopy}>
        <CopyButton value={text} />
      </div>
    </div>
  );
}
