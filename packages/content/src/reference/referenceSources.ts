import { DOMAINS, kebab, REFERENCE } from '../calls.ts';
import type { Source } from '../Source.ts';
import { briefMarkdown, domainMarkdown } from './domainMarkdown.ts';

const ABBREVIATIONS: Record<string, string> = { api: 'API', ssh: 'SSH' };

/** A page for each domain of the call table, after the written pages of their group. */
export function referenceSources(written: readonly Source[]): Source[] {
  if (!written.some((source) => source.path === REFERENCE && source.isIndex)) return [];
  const last = Math.max(...written.filter((source) => source.group === 'api').map((source) => source.order));
  return [...DOMAINS].map(([domain, calls], index): Source => {
    const title = `API: ${wordsOf(domain)}`;
    let text: string | null = null;
    return {
      file: `${REFERENCE}/${kebab(domain)}`,
      section: 'docs',
      language: 'en',
      path: `${REFERENCE}/${kebab(domain)}`,
      group: 'api',
      isIndex: false,
      title,
      description: described(calls.map(({ name }) => name)),
      order: last + 1 + index,
      id: null,
      date: null,
      isReference: true,
      body() {
        text ??= domainMarkdown(calls);
        return text;
      },
      brief: () => briefMarkdown(calls),
    };
  });
}

const wordsOf = (domain: string): string =>
  kebab(domain)
    .split('-')
    .map((word) => ABBREVIATIONS[word] ?? word)
    .join(' ');

/** As many names of calls as a description has room for. */
function described(names: readonly string[]): string {
  const room = 150;
  const shown: string[] = [];
  for (const name of names) {
    if (`Calls: ${[...shown, name].join(', ')}`.length > room) return `Calls: ${shown.join(', ')}, …`;
    shown.push(name);
  }
  return `Calls: ${shown.join(', ')}.`;
}
