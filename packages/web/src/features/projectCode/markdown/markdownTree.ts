import type { Element, ElementContent, Root } from 'hast';
import rehypeRaw from 'rehype-raw';
import rehypeSanitize, { defaultSchema, type Options } from 'rehype-sanitize';
import remarkGfm from 'remark-gfm';
import remarkParse from 'remark-parse';
import remarkRehype from 'remark-rehype';
import { unified } from 'unified';
import { resolveLink } from './resolveLink.ts';

/** Before every id of the text, so that none is taken for one of the page. */
const ID_PREFIX = 'user-content-';

const DROPPED_TAGS = ['source', 'picture'];

/** GitHub's, without what loads something by another way than `img`. */
const schema: Options = {
  ...defaultSchema,
  clobberPrefix: ID_PREFIX,
  tagNames: defaultSchema.tagNames?.filter((name) => !DROPPED_TAGS.includes(name)),
};

const pipeline = unified()
  .use(remarkParse)
  .use(remarkGfm)
  .use(remarkRehype, { allowDangerousHtml: true, clobberPrefix: '' })
  // HTML within Markdown becomes elements, of which the next step lets only the harmless ones through.
  .use(rehypeRaw)
  .use(() => nameHeadings)
  .use(rehypeSanitize, schema);

/**
 * The elements of a Markdown text, with nothing in them that runs or loads. `dataPath` (and `dataHash`) of a link or
 * an image is the path in the repository, `dataExternal` the address outside; neither has an address of its own.
 * `dataInLink` marks an image within a link.
 */
export function markdownTree(markdown: string, folder: string): Root {
  const tree = pipeline.runSync(pipeline.parse(markdown)) as Root;
  resolveAddresses(tree, folder);
  return tree;
}

/** As GitHub names them, so that links within a text work. */
function nameHeadings(tree: Root): void {
  const taken = new Map<string, number>();
  for (const element of elementsOf(tree)) {
    if (!/^h[1-6]$/.test(element.tagName) || element.properties.id !== undefined) continue;
    const slug = slugOf(textOf(element));
    const count = taken.get(slug) ?? 0;
    taken.set(slug, count + 1);
    element.properties.id = count === 0 ? slug : `${slug}-${count}`;
  }
}

const slugOf = (text: string): string =>
  text
    .trim()
    .toLowerCase()
    .replace(/[^\p{L}\p{M}\p{N}\p{Pc}\- ]/gu, '')
    .replaceAll(' ', '-');

function textOf(element: Element): string {
  const texts: string[] = [];
  const ahead: ElementContent[] = [...element.children];
  for (let node = ahead.shift(); node; node = ahead.shift()) {
    if (node.type === 'text') texts.push(node.value);
    else if (node.type === 'element') ahead.unshift(...node.children);
  }
  return texts.join('');
}

function resolveAddresses(tree: Root, folder: string): void {
  for (const element of elementsOf(tree)) {
    const { tagName, properties } = element;
    // The page has a heading of the first level: its own.
    if (/^h[1-5]$/.test(tagName)) element.tagName = `h${Number(tagName[1]) + 1}`;
    // A link within a link is none.
    if (tagName === 'a')
      for (const inner of elementsOf(element)) if (inner.tagName === 'img') inner.properties.dataInLink = 'yes';
    // Quotations name their source: no one sees it.
    delete properties.cite;
    delete properties.longDesc;
    const name = tagName === 'a' ? 'href' : 'src';
    const address = properties[name];
    if (address === undefined) continue;
    delete properties[name];
    const target = typeof address === 'string' ? resolveLink(address, folder) : null;
    if (target?.kind === 'anchor') properties.href = `#${ID_PREFIX}${target.id}`;
    else if (target?.kind === 'external') properties.dataExternal = target.url;
    else if (target?.kind === 'path') Object.assign(properties, { dataPath: target.path, dataHash: target.hash });
  }
}

/** In the order of the document, without recursion: a text may nest thousands of elements. */
function* elementsOf(tree: Root | Element): Generator<Element> {
  const ahead: (Root | ElementContent)[] = [tree];
  for (let node = ahead.pop(); node; node = ahead.pop()) {
    if (node.type === 'element') yield node;
    if (node.type === 'element' || node.type === 'root')
      for (const child of node.children.toReversed()) if (child.type !== 'doctype') ahead.push(child);
  }
}
