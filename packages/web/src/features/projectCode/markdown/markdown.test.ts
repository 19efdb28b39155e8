import type { Element, ElementContent, Root } from 'hast';
import { describe, expect, it } from 'vitest';
import { markdownTree } from './markdownTree.ts';
import { resolveLink } from './resolveLink.ts';
import { HOSTILE_MARKDOWN } from './testing/hostileMarkdown.ts';

function elements(node: Root | ElementContent): Element[] {
  const own = node.type === 'element' ? [node] : [];
  return 'children' in node ? [...own, ...node.children.flatMap((child) => elements(child as ElementContent))] : own;
}

const of = (tag: string, markdown: string, folder = ''): Element | undefined =>
  elements(markdownTree(markdown, folder)).find(({ tagName }) => tagName === tag);

const HARMLESS_TAGS =
  /^(a|b|blockquote|br|code|dd|del|details|div|dl|dt|em|h[1-6]|hr|i|img|input|ins|kbd|li|ol|p|pre|q|rp|rt|ruby|s|samp|section|span|strike|strong|sub|summary|sup|table|tbody|td|tfoot|th|thead|tr|tt|ul|var)$/;
const HARMLESS_PROPERTIES =
  /^(id|name|href|dataPath|dataHash|dataExternal|dataInLink|alt|title|align|width|height|className|checked|disabled|type|open|start|aria\w+|dataFootnote\w+|colSpan|rowSpan|itemScope|itemType|span|value)$/;

describe('Markdown of a repository', () => {
  it.each(HOSTILE_MARKDOWN.map((markdown) => [markdown]))('has nothing that runs or loads left: %s', (markdown) => {
    for (const { tagName, properties } of elements(markdownTree(`before\n\n${markdown}\n\nafter`, 'docs'))) {
      expect(tagName).toMatch(HARMLESS_TAGS);
      for (const [name, value] of Object.entries(properties)) {
        expect(name).toMatch(HARMLESS_PROPERTIES);
        if (name === 'href') expect(value).toMatch(/^#user-content-/);
        if (name === 'id' || name === 'name') expect(value).toMatch(/^user-content-/);
        if (name === 'dataExternal') expect(value).toMatch(/^(https?|mailto):/);
        if (name === 'dataPath') expect(String(value).split('/')).not.toContain('..');
        if (name === 'className')
          expect(String(value)).toMatch(
            /^(language-\S+|task-list-item|contains-task-list|footnotes|sr-only|data-footnote-backref)$/,
          );
        if (name === 'type') expect(value).toBe('checkbox');
      }
    }
  });

  it('keeps the harmless part of HTML', () => {
    expect(of('p', '<p align="center">x</p>')?.properties).toEqual({ align: 'center' });
    expect(of('summary', '<details><summary>More</summary>\n\ntext\n</details>')).toBeDefined();
    expect(of('table', '| a |\n|---|\n| b |')).toBeDefined();
    expect(of('input', '- [x] done')?.properties).toMatchObject({ type: 'checkbox', checked: true, disabled: true });
  });

  it('resolves links and images from the folder of the file', () => {
    expect(of('a', '[x](../a%20b.md#part)', 'docs')?.properties).toMatchObject({
      dataPath: 'a b.md',
      dataHash: '#part',
    });
    expect(of('img', '![x](pic.png)', 'docs/en')?.properties).toMatchObject({ dataPath: 'docs/en/pic.png' });
    expect(of('img', '![x](/pic.png?raw=true)', 'docs')?.properties).toMatchObject({ dataPath: 'pic.png' });
    expect(of('img', '![x](https://example.com/a.png)')?.properties).toMatchObject({
      dataExternal: 'https://example.com/a.png',
    });
  });

  it('lets headings be linked to', () => {
    const tree = elements(markdownTree('# Über uns: `x`\n\n# Über uns: x\n\n[up](#über-uns-x)', ''));
    expect(tree.filter(({ tagName }) => tagName === 'h2').map(({ properties }) => properties.id)).toEqual([
      'user-content-über-uns-x',
      'user-content-über-uns-x-1',
    ]);
    expect(tree.find(({ tagName }) => tagName === 'a')?.properties.href).toBe('#user-content-über-uns-x');
  });

  it('leads from a footnote to its text and back', () => {
    const tree = elements(markdownTree('a[^1]\n\n[^1]: note', ''));
    const links = tree.filter(({ tagName }) => tagName === 'a');
    const ids = new Set(tree.map(({ properties }) => properties.id));
    expect(links).toHaveLength(2);
    for (const { properties } of links) expect(ids).toContain(String(properties.href).slice(1));
  });
});

describe('an address in a text', () => {
  it.each([
    ['a/b.md', 'docs', { kind: 'path', path: 'docs/a/b.md', hash: '' }],
    ['./', 'docs', { kind: 'path', path: 'docs', hash: '' }],
    ['../../../x', 'a/b', { kind: 'path', path: 'x', hash: '' }],
    ['x', 'a b/#', { kind: 'path', path: 'a b/#/x', hash: '' }],
    ['caf%E9.md', 'a\\\\b', { kind: 'path', path: 'a\\\\b/caf\\xE9.md', hash: '' }],
    ['a%5Cb.md', '\\xE0', { kind: 'path', path: '\\xE0/a\\\\b.md', hash: '' }],
    ['é.md', '', { kind: 'path', path: 'é.md', hash: '' }],
    ['//example.com/x', '', { kind: 'external', url: 'http://example.com/x' }],
    ['#a%20b', '', { kind: 'anchor', id: 'a b' }],
    ['mailto:a@example.com', '', { kind: 'external', url: 'mailto:a@example.com' }],
  ])('%s from %s', (href, folder, target) => {
    expect(resolveLink(href, folder)).toEqual(target);
  });

  it.each(['javascript:x', '..%2f..%2fx', 'a//b', 'ftp://x', 'http://', 'a%E0%A4%A'])('%s is none', (href) => {
    expect(resolveLink(href, 'docs')).toBeNull();
  });
});
