import { API_PREFIX } from '@stagi/contract/call.ts';
import { WRITTEN_TAGS, type WrittenElement, type WrittenNode, type WrittenTag } from '@stagi/contract/writtenTags.ts';
import type { Element, ElementContent, Root as HtmlRoot } from 'hast';
import type { Root } from 'mdast';
import type { ContainerDirective, LeafDirective } from 'mdast-util-directive';
import remarkRehype from 'remark-rehype';
import { unified } from 'unified';
import { visit } from 'unist-util-visit';
import { callNamed } from './calls.ts';
import { highlight } from './highlight.ts';
import { isCallout, labelOf, type ParsedPage } from './parsePage.ts';
import { fillPlace, isPlace, PLACE, type Places } from './places.ts';
import type { Source } from './Source.ts';
import { WORDS, whoMay } from './words.ts';

const toElements = unified().use(remarkRehype);

/** The page as elements, with places of the operator left empty (`fillPlaces`). */
export async function renderText({ tree }: ParsedPage, source: Source): Promise<WrittenNode[]> {
  const page = structuredClone(tree);
  shapeDirectives(page, source);
  const elements = (await toElements.run(page)) as HtmlRoot;
  markPlaces(elements);
  labelTables(elements, source);
  await colourCode(elements);
  return nodesOf(elements.children as ElementContent[], true);
}

const element = (
  tagName: WrittenTag,
  properties: Element['properties'],
  children: (ElementContent | string)[] = [],
): Element => ({
  type: 'element',
  tagName,
  properties,
  children: children.map((child) => (typeof child === 'string' ? { type: 'text', value: child } : child)),
});

function shapeDirectives(tree: Root, source: Source): void {
  visit(tree, (node) => {
    if (node.type === 'leafDirective') shapeCall(node, source);
    if (node.type !== 'containerDirective') return;
    if (isCallout(node.name)) {
      shapeTitle(node, WORDS[source.language].callouts[node.name]);
      node.data = { ...node.data, hName: 'callout', hProperties: { kind: node.name } };
    } else if (node.name === 'tabs') {
      node.data = { ...node.data, hName: 'tabs' };
    } else {
      const label = labelOf(node) ?? '';
      node.children.shift();
      node.data = { ...node.data, hName: 'tab', hProperties: { label } };
    }
  });
}

/** What a callout says of itself, else the word for its kind, comes first in it. */
function shapeTitle(node: ContainerDirective, fallback: string): void {
  const [first] = node.children;
  const data = { hName: 'title' };
  if (first?.type === 'paragraph' && first.data?.directiveLabel) first.data = { ...first.data, ...data };
  else node.children.unshift({ type: 'paragraph', data, children: [{ type: 'text', value: fallback }] });
}

function shapeCall(node: LeafDirective, source: Source): void {
  const name = node.attributes?.call ?? '';
  const named = callNamed(name);
  if (!named) throw new Error(`no call ${name}`);
  const who = whoMay(named.call, source.language);
  const callers =
    typeof who === 'string' ? [who] : who.flatMap((one, at) => [...(at > 0 ? [', '] : []), element('code', {}, [one])]);
  node.data = {
    hName: 'call',
    hChildren: [
      element('method', {}, ['POST']),
      element('code', {}, [API_PREFIX + named.call.path]),
      element('a', { href: named.address }, [name]),
      element('callers', {}, callers),
    ],
  };
}

/** Empty elements where the operator's texts belong. */
function markPlaces(elements: HtmlRoot): void {
  visit(elements, 'text', (node, index, parent) => {
    if (!parent || index === undefined || (parent.type === 'element' && parent.tagName === 'code')) return;
    const parts: ElementContent[] = [];
    let end = 0;
    for (const match of node.value.matchAll(PLACE)) {
      parts.push({ type: 'text', value: node.value.slice(end, match.index) });
      parts.push(element('place', { kind: match[1] ?? '' }));
      end = match.index + match[0].length;
    }
    if (parts.length === 0) return;
    parts.push({ type: 'text', value: node.value.slice(end) });
    parent.children.splice(index, 1, ...parts);
    return index + parts.length;
  });
}

/** Each table is named for the heading above it. */
function labelTables(elements: HtmlRoot, { title, language }: Source): void {
  let heading = title;
  let count = 0;
  visit(elements, 'element', (node) => {
    if (/^h[23]$/.test(node.tagName)) heading = textIn(node);
    if (node.tagName !== 'table') return;
    count += 1;
    node.properties.label = `${WORDS[language].table} ${count}: ${heading}`;
  });
}

async function colourCode(elements: HtmlRoot): Promise<void> {
  const blocks: [Element, Element][] = [];
  visit(elements, 'element', (node) => {
    const [code] = node.children;
    if (node.tagName === 'pre' && code?.type === 'element') blocks.push([node, code]);
  });
  for (const [pre, code] of blocks) {
    const names = (code.properties.className ?? []) as string[];
    const language = names.find((name) => name.startsWith('language-'))?.slice('language-'.length) ?? 'text';
    pre.properties = { language };
    pre.children = await highlight(textIn(code).replace(/\n$/, ''), language);
  }
}

function textIn(node: Element): string {
  let text = '';
  visit(node, 'text', ({ value }) => {
    text += value;
  });
  return text;
}

/** Between what they hold, a line break means nothing. */
const BLOCKS: ReadonlySet<string> = new Set<WrittenTag>([
  'blockquote',
  'callout',
  'li',
  'ol',
  'tab',
  'table',
  'tabs',
  'tbody',
  'thead',
  'tr',
  'ul',
]);
const FIELDS = ['id', 'href', 'label', 'kind', 'language'] as const;

function nodesOf(children: readonly ElementContent[], isBlock: boolean): WrittenNode[] {
  return children.flatMap((child): WrittenNode[] => {
    if (child.type === 'text') return child.value === '' || (isBlock && child.value === '\n') ? [] : [child.value];
    return child.type === 'element' ? [elementOf(child)] : [];
  });
}

/** Throws where Markdown has more to say than a text can show, as numbers of a list that begins with 3. */
function elementOf({ tagName, properties, children }: Element): WrittenElement {
  const tag = WRITTEN_TAGS.find((one) => one === tagName);
  if (!tag) throw new Error(`texts have no <${tagName}>`);
  const made: WrittenElement = { tag };
  for (const [name, value] of Object.entries(properties)) {
    const field = FIELDS.find((one) => one === name);
    if (!field) throw new Error(`<${tagName}> has no ${name} in texts`);
    made[field] = String(value);
  }
  const inside = nodesOf(children, BLOCKS.has(tagName));
  return inside.length > 0 ? { ...made, children: inside } : made;
}

/** Fills the places of a rendered text; those that the operator has not set are marked. */
export function fillPlaces(
  nodes: readonly WrittenNode[],
  places: Places,
  { language }: Pick<Source, 'language'>,
): WrittenNode[] {
  return nodes.map((node) => {
    if (typeof node === 'string') return node;
    if (node.tag !== 'place')
      return node.children ? { ...node, children: fillPlaces(node.children, places, { language }) } : node;
    if (!node.kind || !isPlace(node.kind)) return node;
    const { text, isSet } = fillPlace(node.kind, places, language);
    return { ...node, ...(isSet ? {} : { isUnset: true as const }), children: [text] };
  });
}
