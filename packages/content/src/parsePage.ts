import GithubSlugger from 'github-slugger';
import type { Heading, Root, RootContent } from 'mdast';
import { type Directives, directiveFromMarkdown } from 'mdast-util-directive';
import { toString as textOf } from 'mdast-util-to-string';
import { directive } from 'micromark-extension-directive';
import remarkGfm from 'remark-gfm';
import remarkParse from 'remark-parse';
import { type Processor, unified } from 'unified';
import { visit } from 'unist-util-visit';
import { ContentError, problemAt } from './ContentError.ts';
import { callNamed } from './calls.ts';
import { codeProblem } from './codeFences.ts';
import { isPlace, PLACE } from './places.ts';
import type { Source } from './Source.ts';

export const CALLOUTS = ['note', 'tip', 'warning', 'danger'] as const;
export type Callout = (typeof CALLOUTS)[number];
export const isCallout = (name: string): name is Callout => (CALLOUTS as readonly string[]).includes(name);

export interface PageHeading {
  id: string;
  text: string;
  level: 2 | 3;
}

export interface ParsedPage {
  /** Headings have their id in `data.hProperties`; what gave it is removed from their text. */
  tree: Root;
  headings: PageHeading[];
  /** Of all headings: the places that a link may name. */
  ids: ReadonlySet<string>;
}

/**
 * Directives that are blocks (`:::note`, `::api`). The third kind, within a line, would take the ":latest" of an
 * image's name for one.
 */
function blockDirectives(this: Processor): void {
  const data = this.data();
  const { text: _, ...blocks } = directive();
  data.micromarkExtensions = [...(data.micromarkExtensions ?? []), blocks];
  data.fromMarkdownExtensions = [...(data.fromMarkdownExtensions ?? []), directiveFromMarkdown()];
}

const parser = unified().use(remarkParse).use(remarkGfm).use(blockDirectives);

/** The tree of a page. Throws `ContentError` for what a page may not hold. */
export function parsePage(source: Source): ParsedPage {
  const tree = parser.parse(source.body()) as Root;
  const problems = problemsOf(tree, source);
  if (problems.length > 0) throw new ContentError(problems);
  return { tree, ...nameHeadings(tree, source) };
}

function problemsOf(tree: Root, source: Source): string[] {
  const problems: string[] = [];
  let above = 1;
  visit(tree, (node, _index, parent) => {
    const problem = node.type === 'heading' ? headingProblem(node, above) : problemOf(node, parent);
    if (problem) problems.push(problemAt(source.file, node.position?.start.line, problem));
    if (node.type === 'heading') above = node.depth;
  });
  return problems;
}

function headingProblem(heading: Heading, above: number): string | null {
  if (heading.depth === 1) return 'a page has no heading of the first level: its title is one';
  if (heading.depth > 3) return 'headings are of the second and third level';
  if (heading.depth > above + 1) return 'a heading is one level below the one above it, or less';
  let hasLink = false;
  visit(heading, 'link', () => {
    hasLink = true;
  });
  return hasLink ? 'a heading holds no link: it is one itself' : null;
}

function problemOf(node: Root | RootContent, parent: { type: string; name?: string } | undefined): string | null {
  switch (node.type) {
    case 'html':
      return `HTML is not rendered: ${node.value.slice(0, 40)} (write it as code)`;
    case 'image':
    case 'imageReference':
      return 'pages hold no images';
    case 'code':
      return codeProblem(node.lang ?? '', node.meta ?? '');
    case 'text': {
      const unknown = [...node.value.matchAll(PLACE)].map(([, name = '']) => name).find((name) => !isPlace(name));
      return unknown === undefined ? null : `there is no {{${unknown}}}`;
    }
    case 'containerDirective':
    case 'leafDirective':
      return directiveProblem(node, parent);
    default:
      return null;
  }
}

function directiveProblem(node: Directives, parent: { type: string; name?: string } | undefined): string | null {
  if (node.type === 'leafDirective') {
    if (node.name !== 'api') return `there is no ::${node.name}`;
    const name = node.attributes?.call ?? '';
    return callNamed(name) ? null : `there is no call "${name}": ::api{call="domain.name"}`;
  }
  if (isCallout(node.name)) return null;
  if (node.name === 'tabs') {
    const isTabs = node.children.every((child) => child.type === 'containerDirective' && child.name === 'tab');
    return isTabs && node.children.length > 0 ? null : ':::tabs holds :::tab[Name] and nothing else';
  }
  if (node.name !== 'tab') return `there is no :::${node.name}`;
  if (parent?.name !== 'tabs') return ':::tab stands within ::::tabs, which has one more colon';
  return labelOf(node) === null ? 'a tab has a name: :::tab[Name]' : null;
}

/** The text in `[…]` after the name of a directive. */
export function labelOf(node: Directives): string | null {
  const [first] = node.children;
  return first?.type === 'paragraph' && first.data?.directiveLabel ? textOf(first) : null;
}

const EXPLICIT_ID = /\s*\{#([a-z0-9]+(?:-[a-z0-9]+)*)\}\s*$/;

/** The third level of the reference, the same below each call, is in no list of headings. */
function nameHeadings(tree: Root, { isReference }: Source): Omit<ParsedPage, 'tree'> {
  const slugger = new GithubSlugger();
  const headings: PageHeading[] = [];
  const ids = new Set<string>();
  visit(tree, 'heading', (heading) => {
    const last = heading.children.at(-1);
    const explicit = last?.type === 'text' ? EXPLICIT_ID.exec(last.value) : null;
    if (explicit && last?.type === 'text') last.value = last.value.slice(0, explicit.index);
    const text = textOf(heading);
    const id = explicit?.[1] ?? slugger.slug(text.replace(PLACE, '$1'));
    heading.data = { ...heading.data, hProperties: { id } };
    ids.add(id);
    if (!isReference || heading.depth === 2) headings.push({ id, text, level: heading.depth as 2 | 3 });
  });
  return { headings, ids };
}
