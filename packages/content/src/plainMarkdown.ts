import { API_PREFIX } from '@stagi/contract/call.ts';
import type { Paragraph, Root, RootContent } from 'mdast';
import remarkGfm from 'remark-gfm';
import remarkStringify from 'remark-stringify';
import { unified } from 'unified';
import { visit } from 'unist-util-visit';
import { callNamed } from './calls.ts';
import { isCallout, labelOf, type ParsedPage } from './parsePage.ts';
import type { Source } from './Source.ts';
import { WORDS } from './words.ts';

const writer = unified()
  .use(remarkGfm, { tablePipeAlign: false, tableCellPadding: true })
  .use(remarkStringify, { bullet: '-', rule: '-' });

/** The page as CommonMark with tables, for programs and for readers of plain text. */
export function plainMarkdown({ tree }: ParsedPage, source: Source): string {
  const page = structuredClone(tree);
  page.children = flattened(page.children, source) as Root['children'];
  visit(page, 'code', (node) => {
    node.meta = null;
  });
  page.children.unshift({ type: 'heading', depth: 1, children: [{ type: 'text', value: source.title }] });
  return writer.stringify(page);
}

/** Callouts become quotations, tabs follow each other under their names. */
function flattened(nodes: RootContent[], source: Source): RootContent[] {
  return nodes.flatMap((node): RootContent[] => {
    if (node.type === 'leafDirective') return [apiLine(node.attributes?.call ?? '')];
    if (node.type === 'containerDirective') {
      const label = labelOf(node);
      const rest = flattened(label === null ? node.children : node.children.slice(1), source);
      if (isCallout(node.name)) {
        const title = strong(label ?? WORDS[source.language].callouts[node.name]);
        return [{ type: 'blockquote', children: [title, ...rest] as Paragraph[] }];
      }
      return node.name === 'tab' ? [strong(label ?? ''), ...rest] : rest;
    }
    if ('children' in node) node.children = flattened(node.children as RootContent[], source) as never;
    return [node];
  });
}

const strong = (value: string): Paragraph => ({
  type: 'paragraph',
  children: [{ type: 'strong', children: [{ type: 'text', value }] }],
});

function apiLine(name: string): Paragraph {
  const named = callNamed(name);
  if (!named) throw new Error(`no call ${name}`);
  return {
    type: 'paragraph',
    children: [
      { type: 'link', url: named.address, children: [{ type: 'text', value: name }] },
      { type: 'text', value: ': ' },
      { type: 'inlineCode', value: `POST ${API_PREFIX}${named.call.path}` },
    ],
  };
}
