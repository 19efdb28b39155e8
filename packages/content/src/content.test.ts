import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { WrittenElement, WrittenNode, WrittenTag } from '@stagi/contract/writtenTags.ts';
import { afterEach, describe, expect, it } from 'vitest';
import { ContentError } from './ContentError.ts';
import { checkLinks } from './checkLinks.ts';
import { type Content, loadContent } from './content.ts';
import { pagesToRun } from './runBlocks.ts';

const content = loadContent(new URL('./testing/pages', import.meta.url).pathname);
const FIRST = '/docs/getting-started/first-container';

const all = (nodes: readonly WrittenNode[], tag: WrittenTag): WrittenElement[] =>
  nodes.flatMap((node) =>
    typeof node === 'string' ? [] : [...(node.tag === tag ? [node] : []), ...all(node.children ?? [], tag)],
  );

describe('pages', () => {
  it('are listed in reading order, in the language where they are written in it', () => {
    const written = content.list('docs', 'tr').filter(({ path }) => !path.startsWith('/docs/api/'));
    expect(written.map(({ path }) => path)).toEqual(['/docs', '/docs/getting-started', FIRST, '/docs/api']);
    expect(written.map(({ language }) => language)).toEqual(['en', 'en', 'tr', 'en']);
    expect(written[2]).toMatchObject({ title: 'İlk kapsayıcı', group: 'getting-started' });
    expect(content.list('blog', 'en').map(({ id, date }) => [id, date])).toEqual([
      [2, '2026-11-22'],
      [1, '2026-11-21'],
    ]);
  });

  it('have headings, neighbours and languages', async () => {
    const page = await content.page(FIRST, 'ru');
    expect(page).toMatchObject({
      language: 'en',
      languages: ['en', 'cn', 'tr'],
      previous: { path: '/docs/getting-started', title: 'Getting started' },
      next: { path: '/docs/api' },
    });
    expect(page?.headings).toEqual([
      { id: 'create-a-container', text: 'Create a container', level: 2 },
      { id: 'with-a-call', text: 'With a call', level: 3 },
    ]);
    expect(await content.page('/docs/none', 'en')).toBeNull();
    expect(await content.markdown('/docs/none', 'en')).toBeNull();
  });

  it('are rendered with callouts, tabs, tables, code and calls', async () => {
    const text = (await content.page(FIRST, 'en'))?.text ?? [];
    expect(all(text, 'h2')[0]).toEqual({ tag: 'h2', id: 'create-a-container', children: ['Create a container'] });
    const [note, titled] = all(text, 'callout');
    expect(note).toMatchObject({ kind: 'note', children: [{ tag: 'title', children: ['Note'] }, { tag: 'p' }] });
    expect(titled?.children?.[0]).toEqual({
      tag: 'title',
      children: ['Before you ', { tag: 'strong', children: ['begin'] }],
    });
    expect(all(text, 'table')[0]).toMatchObject({
      label: 'Table 1: Create a container',
      children: [{ tag: 'thead' }, { tag: 'tbody' }],
    });
    expect(all(text, 'tabs')[0]?.children?.[0]).toMatchObject({
      tag: 'tab',
      label: 'curl',
      children: [{ tag: 'pre' }],
    });
    const typescript = all(text, 'pre').find(({ language }) => language === 'ts');
    expect(typescript?.children?.[0]).toEqual({ tag: 'token', kind: '4', children: ['const '] });
    expect(all(text, 'call')[0]?.children).toContainEqual({
      tag: 'a',
      href: '/docs/api/containers#create',
      children: ['containers.create'],
    });
    expect(JSON.stringify(text)).toContain('such as ollama:latest on');
    expect(JSON.stringify(text)).not.toContain('norun');
    const turkish = (await content.page(FIRST, 'tr'))?.text ?? [];
    expect(all(turkish, 'h2')[0]).toMatchObject({
      id: 'create-a-container',
      children: [expect.stringMatching(/^Kapsayıcı/)],
    });
    expect(all(turkish, 'title')).toContainEqual({ tag: 'title', children: ['İpucu'] });
  });

  it('are Markdown for programs', async () => {
    const text = await content.markdown(FIRST, 'en');
    expect(text).toContain('# The first container\n\nA container runs an image');
    expect(text).toContain('> **Before you begin**\n>\n> Files in a container');
    expect(text).toContain('**curl**\n\n```sh\necho');
    expect(text).toContain(
      '[containers.create](/docs/api/containers#create): `POST /frontend-api/docker-container/create`',
    );
  });

  it('have places that the operator fills', async () => {
    const unset = await content.page('/terms-of-service', 'en', { 'operator.name': 'Acme <Ltd>' });
    const places = all(unset?.text ?? [], 'place');
    expect(places).toContainEqual({ tag: 'place', kind: 'operator.name', children: ['Acme <Ltd>'] });
    expect(places).toContainEqual({
      tag: 'place',
      kind: 'operator.address',
      isUnset: true,
      children: [expect.stringMatching(/^the address that/)],
    });
    expect(await content.markdown('/terms-of-service', 'en')).toContain('the terms of {{operator.name}}');
    const filled = await content.markdown('/terms-of-service', 'en', { 'operator.name': 'Acme' });
    expect(filled).toContain('the terms of Acme, the address that');
  });

  it('are listed for language models and by address', () => {
    expect(content.llmsTxt('https://stagi.example')).toContain(
      '- [The first container](https://stagi.example/docs/getting-started/first-container.md): Create a container',
    );
    expect(content.paths()).toContainEqual({ path: '/blog/post-1', languages: ['en'], date: '2026-11-21' });
  });

  it('give their blocks to run', () => {
    expect(pagesToRun(content)).toMatchObject([
      { path: FIRST, blocks: [{ line: 26, code: 'echo "$STAGI_URL" # the address' }] },
      { path: '/tutorials/first-steps', blocks: [{ line: 8 }] },
    ]);
  });
});

describe('wrong pages', () => {
  const folders: string[] = [];
  afterEach(() => {
    for (const folder of folders.splice(0)) rmSync(folder, { recursive: true });
  });

  function load(files: Record<string, string>): Content {
    const folder = join(mkdtempSync(join(tmpdir(), 'stagi-pages-')), 'content');
    folders.push(dirname(folder));
    for (const [name, text] of Object.entries(files)) {
      mkdirSync(dirname(join(folder, name)), { recursive: true });
      writeFileSync(join(folder, name), text);
    }
    return loadContent(folder);
  }
  const page = (body: string, order = 1): string => `---\ntitle: T\ndescription: D\norder: ${order}\n---\n${body}`;
  const problemsOf = (act: () => unknown): readonly string[] => {
    try {
      act();
    } catch (error) {
      if (error instanceof ContentError) return error.problems;
      throw error;
    }
    return [];
  };
  const inPage = (body: string) =>
    problemsOf(() =>
      load({ 'tutorials/en/a.md': page(body) })
        .written('/tutorials/a', 'en')
        ?.parsed(),
    );

  it.each([
    ['no front matter', 'content/tutorials/en/a.md:1: begins with front matter'],
    ['---\ntitle: T\ndescription: D\n---\n', 'content/tutorials/en/a.md:1: order is missing'],
    ['---\ntitle: T\ndescription: D\nordr: 3\norder: 1\n---\n', 'content/tutorials/en/a.md:1: '],
    ['---\ntitle: T\ndescription: D\norder: first\n---\n', 'content/tutorials/en/a.md:4: order '],
    ['---\ntitle: "T\n---\n', 'content/tutorials/en/a.md:'],
  ])('%j is refused', (text, problem) => {
    expect(problemsOf(() => load({ 'tutorials/en/a.md': text }))[0]).toContain(problem);
  });

  it.each([
    ['```\nx\n```', ':6: a code block names its language'],
    ['\n```sh\nls\n```', ':7: a block of sh says "run" or "norun: reason"'],
    ['```sh norun:\nls\n```', ':6: a block of sh says'],
    ['```bash\nls\n```', ':6: a block of bash'],
    ['# Title', ':6: a page has no heading of the first level'],
    ['### Third', ':6: a heading is one level below'],
    ['Use <name>.', ':6: HTML is not rendered: <name>'],
    ['![x](/y.png)', ':6: pages hold no images'],
    ['::api{call="instances.steal"}', ':6: there is no call "instances.steal"'],
    [':::hint\nx\n:::', ':6: there is no :::hint'],
    ['{{operator.phone}}', ':6: there is no {{operator.phone}}'],
  ])('%j is refused', (body, problem) => {
    expect(inPage(body).join()).toContain(`content/tutorials/en/a.md${problem}`);
  });

  it('are those that claim the same place, or translate nothing', () => {
    expect(problemsOf(() => load({ 'tutorials/en/a.md': page(''), 'tutorials/en/b.md': page('') }))).toEqual([
      'content/tutorials/en/b.md:1: has the order 1 among tutorials, as content/tutorials/en/a.md has',
    ]);
    expect(problemsOf(() => load({ 'tutorials/tr/a.md': page('') }))).toEqual([
      'content/tutorials/tr/a.md:1: translates /tutorials/a, which is not written in English',
    ]);
    expect(problemsOf(() => load({ 'docs/en/x/a.md': page('') }))).toEqual([
      'content/docs/en/x/a.md:1: the group x has no index.md',
    ]);
  });

  it('are those with links to nowhere, and translations without the headings', () => {
    const pages = load({
      'tutorials/en/a.md': page(
        '## Here\n\n[a](/tutorials/b) [b](#there) [c](/models) [d](#here) [e](b.md) [f](http://x.y)',
      ),
      'tutorials/tr/a.md': page('## Burada'),
    });
    expect(checkLinks(pages, { isRoute: (path) => path === '/models' })).toEqual({
      links: 6,
      problems: [
        'content/tutorials/en/a.md:8: /tutorials/b does not exist',
        'content/tutorials/en/a.md:8: #there: the page has no heading #there',
        'content/tutorials/en/a.md:8: b.md is no absolute address, nor https',
        'content/tutorials/en/a.md:8: http://x.y is no absolute address, nor https',
        'content/tutorials/tr/a.md:1: lacks headings of the English page: #here',
      ],
    });
  });
});
