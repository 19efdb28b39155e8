import type { RootContent } from 'mdast';
import { toString as textOf } from 'mdast-util-to-string';
import type { ParsedPage } from './parsePage.ts';
import { fillText } from './places.ts';
import type { Source } from './Source.ts';
import type { SearchDocument } from './searchOptions.ts';

/** A document for each part of a page below a heading of the second or third level. */
export function searchDocuments({ tree, headings }: ParsedPage, source: Source): SearchDocument[] {
  const ahead = [...headings];
  const parts: { heading: string; id: string; texts: string[] }[] = [
    { heading: '', id: source.path, texts: [source.description] },
  ];
  for (const node of tree.children) {
    if (node.type === 'heading') {
      const heading = ahead.shift();
      parts.push({ heading: heading?.text ?? '', id: `${source.path}#${heading?.id}`, texts: [] });
    } else {
      parts.at(-1)?.texts.push(...searchedTexts(node));
    }
  }
  return parts.map(({ heading, id, texts }) => ({
    id,
    path: source.path,
    title: source.title,
    heading,
    text: fillText(texts.filter((text) => text !== '').join(' '), {}, source.language),
  }));
}

/** Commands are not searched; samples of output are, as they hold messages of errors. */
function searchedTexts(node: RootContent): string[] {
  if (node.type === 'code') return node.lang === 'text' ? [node.value] : [];
  if (node.type === 'leafDirective') return [node.attributes?.call ?? ''];
  // A paragraph or a heading is one text; what holds blocks is the texts of its blocks, with spaces between.
  const holdsBlocks =
    'children' in node && !['paragraph', 'heading', 'tableCell'].includes(node.type) && node.children.length > 0;
  return holdsBlocks ? (node.children as RootContent[]).flatMap((child) => searchedTexts(child)) : [textOf(node)];
}
