import { useEffect, useMemo } from 'react';
import { Highlighting } from './Highlighting.ts';
import type { Language } from './languages.ts';

/** Starts to highlight a text. Without a language, or when it fails, no lines come: the text stays plain. */
export function useHighlighting(text: string, language: Language | null): Highlighting {
  // biome-ignore lint/correctness/useExhaustiveDependencies: another text is another highlighting
  const highlighting = useMemo(() => new Highlighting(), [text, language]);
  useEffect(() => {
    if (language === null || highlighting.lines.length > 0) return;
    const ending = new AbortController();
    highlighting.run(text, language, ending.signal).catch((cause: unknown) => {
      if (!ending.signal.aborted) console.debug('A text could not be highlighted', cause);
    });
    return () => ending.abort();
  }, [text, language, highlighting]);
  return highlighting;
}
