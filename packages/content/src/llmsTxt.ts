import { BRAND } from '@stagi/contract/brand.ts';
import { fillText } from './places.ts';
import type { Source } from './Source.ts';

/** See https://llmstxt.org. */
export function llmsTxt(origin: string, docs: readonly Source[], tutorials: readonly Source[]): string {
  const line = ({ path, title, description }: Source): string =>
    `- [${fillText(title, {}, 'en')}](${origin}${path}.md): ${fillText(description, {}, 'en')}`;
  const start = docs.find((page) => page.isIndex && page.group === null);
  const groups = Map.groupBy(
    docs.filter((page) => page.group !== null),
    (page) => page.group,
  );
  const sections = [...groups.values()].map((pages) => [`## ${pages[0]?.title}`, '', ...pages.map(line), '']);
  if (tutorials.length > 0) sections.push(['## Tutorials', '', ...tutorials.map(line), '']);
  return [`# ${BRAND}`, '', `> ${start?.description ?? `The documentation of ${BRAND}.`}`, '', ...sections.flat()].join(
    '\n',
  );
}
