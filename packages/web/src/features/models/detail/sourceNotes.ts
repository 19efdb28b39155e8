import { text } from '@stagi/contract/text.ts';
import type { T } from '../../../i18n/i18n.ts';

/** Notes that readers of sources wrote down again and again. */
const NOTES: ReadonlySet<string> = new Set([
  text('licence, release date, precision repositories'),
  text('architecture from the published config'),
  text('quantised repositories'),
  text('release date field (repository creation date on the hub, may precede the announcement)'),
  text('licence and release date'),
  text('licence statement (all sizes but 3B and 72B are Apache 2.0)'),
  text('transformer defaults'),
  text('licence'),
  text('Qwen2.5 series release date'),
  text('precision repositories'),
  text('general licence statement for open weights'),
  text('architecture'),
  text('parameter count'),
  text('active parameters'),
]);

/** The same about one repository each. */
const OF_REPOSITORY: readonly [pattern: RegExp, template: string][] = [
  [
    /^exact parameter count from stored weights \(([\w./-]+)\)$/,
    text('exact parameter count from stored weights ({{repository}})'),
  ],
  [
    /^architecture \(vocabSize is the padded value\) for ([\w./-]+)$/,
    text('architecture (vocabSize is the padded value) for {{repository}}'),
  ],
];

/** A note in the language shown; null: it stands as it was written down, in English. */
export function sourceNote(t: T, note: string): string | null {
  if (NOTES.has(note)) return t(note);
  for (const [pattern, template] of OF_REPOSITORY) {
    const [, repository] = pattern.exec(note) ?? [];
    if (repository !== undefined) return t(template, { repository });
  }
  return null;
}
