import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { api } from '@stagi/contract/api.ts';
import type { WrittenNode } from '@stagi/contract/writtenTags.ts';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestApp, type TestApp } from '../testing/app.ts';
import { linksOfIndex, locationsOfSitemap } from './testing/listedAddresses.ts';

const ORIGIN = 'https://stagi.example';
const OPERATOR = 'Ada & "Söhne" \\ <GmbH>';

/** The long tests visit all of them. */
const aTenthOf = (addresses: readonly string[]): string[] => addresses.filter((_, index) => index % 10 === 0);

const placesIn = (nodes: readonly WrittenNode[]): WrittenNode[] =>
  nodes.flatMap((node) =>
    typeof node === 'string' ? [] : node.tag === 'place' ? [node] : placesIn(node.children ?? []),
  );

describe('written pages', () => {
  const webDir = mkdtempSync(join(tmpdir(), 'stagi-content-'));
  let app: TestApp;

  beforeAll(async () => {
    writeFileSync(join(webDir, 'index.html'), '<head></head>plain');
    for (const [language, name] of [
      ['en', 'docs'],
      ['ru', 'docs'],
      ['en', 'docs/concepts/billing'],
      ['en', 'blog'],
      ['ru', 'terms-of-service'],
    ] as const) {
      const file = join(webDir, 'prerendered', language, `${name}.html`);
      mkdirSync(join(file, '..'), { recursive: true });
      writeFileSync(
        file,
        `<link href="https://origin.invalid/${name}"><link href="https://origin.invalid/${name}?lang=ru">prerendered ${language} {{operator.name}}<script>"{{operator.name}}"</script>`,
      );
    }
    app = await startTestApp({
      STAGI_WEB_DIR: webDir,
      APP_ORIGIN: ORIGIN,
      OPERATOR_NAME: OPERATOR,
    });
  });
  afterAll(async () => {
    await app?.close();
    rmSync(webDir, { recursive: true });
  });

  async function served(path: string, headers: Record<string, string> = {}) {
    const reply = await fetch(app.url + path, { redirect: 'manual', headers });
    return {
      status: reply.status,
      body: await reply.text(),
      type: reply.headers.get('content-type'),
      location: reply.headers.get('location'),
    };
  }
  const ask = () => app.anonymous;

  it('are listed in reading order and read by their address', async () => {
    const { entities } = await ask()(api.content.list, { section: 'docs', language: 'en' });
    expect(entities[0]).toMatchObject({ path: '/docs', language: 'en' });
    const { entity } = await ask()(api.content.page, { path: '/docs', language: 'ru' });
    expect(entity).toMatchObject({ path: '/docs', section: 'docs', next: { path: entities[1]?.path } });
    await expect(ask()(api.content.page, { path: '/docs/none', language: 'en' })).rejects.toMatchObject({
      status: 404,
    });
  });

  it('say who the operator is, and read well where that is not set', async () => {
    const { entity } = await ask()(api.content.page, { path: '/terms-of-service', language: 'en' });
    const places = placesIn(entity.text);
    expect(places).toContainEqual({ tag: 'place', kind: 'operator.name', children: [OPERATOR] });
    expect(places).toContainEqual({
      tag: 'place',
      kind: 'operator.address',
      isUnset: true,
      children: ['the address that the operator gives on request'],
    });
    const { body } = await served('/terms-of-service', { 'accept-language': 'ru' });
    expect(body).toContain('prerendered ru Ada &amp; &quot;Söhne&quot; \\ &lt;GmbH&gt;');
    const json = /<script>(.*)<\/script>/.exec(body)?.[1] ?? '';
    expect(JSON.parse(json)).toBe(OPERATOR);
    expect(json).not.toContain('<');
  });

  it('are prerendered in the language of the address, else the browser’s, and name their own addresses', async () => {
    for (const [path, accepted, kind] of [
      ['/docs', 'en', 'prerendered en'],
      ['/docs', 'ru', 'prerendered ru'],
      ['/docs?lang=ru', 'en', 'prerendered ru'],
      ['/docs?lang=xx', 'en', 'prerendered en'],
      // Not translated: the app shows the English page in its frame.
      ['/docs/concepts/billing?lang=ru', 'en', 'plain'],
    ] as const) {
      const { status, body } = await served(path, { 'accept-language': accepted });
      expect([path, status, /prerendered \w+|plain/.exec(body)?.[0]]).toEqual([path, 200, kind]);
      expect(body).not.toContain('origin.invalid');
    }
  });

  it('that do not exist answer 404; a post is found by its id', async () => {
    for (const path of [
      '/docs/none',
      '/docs/console/none',
      '/tutorials/none',
      '/blog/none',
      '/blog/none?id=99',
      '/docs/none.md',
    ])
      expect([path, (await served(path)).status]).toEqual([path, 404]);
    const { entities } = await ask()(api.content.list, { section: 'blog', language: 'en' });
    const [post] = entities;
    expect(await served(`/blog/another-name?id=${post?.id}`)).toMatchObject({
      status: 302,
      location: `${post?.path}?id=${post?.id}`,
    });
  });

  it('are Markdown for programs, with their index', async () => {
    const { status, type, body } = await served('/docs/concepts/billing.md');
    expect([status, type]).toEqual([200, 'text/markdown; charset=utf-8']);
    expect(body).toMatch(/^# \w/);
    expect(await served('/terms-of-service.md')).toMatchObject({
      status: 200,
      body: expect.stringContaining(OPERATOR),
    });
    const index = await served('/llms.txt');
    expect(index.type).toBe('text/plain; charset=utf-8');
    const links = linksOfIndex(index.body, ORIGIN);
    console.log(`llms.txt: n = ${links.length} links`);
    expect(links.length).toBeGreaterThan(50);
    for (const link of aTenthOf(links)) expect([link, (await served(link)).status]).toEqual([link, 200]);
  });

  it('are in the feed, the sitemap and the search index', async () => {
    const feed = await served('/blog/feed.xml');
    expect(feed.type).toBe('application/atom+xml; charset=utf-8');
    expect(feed.body.match(/<entry>/g)?.length).toBeGreaterThanOrEqual(3);
    const robots = await served('/robots.txt');
    expect(robots.body).toContain(`Sitemap: ${ORIGIN}/sitemap.xml`);
    const sitemap = await served('/sitemap.xml');
    expect(sitemap.type).toBe('application/xml; charset=utf-8');
    const addresses = locationsOfSitemap(sitemap.body);
    console.log(`sitemap.xml: n = ${addresses.length} addresses`);
    expect(addresses.length).toBeGreaterThan(150);
    expect(new Set(addresses).size).toBe(addresses.length);
    expect(addresses.filter((address) => !address.startsWith(`${ORIGIN}/`))).toEqual([]);
    for (const address of aTenthOf(addresses)) {
      const { status } = await served(address.slice(ORIGIN.length));
      expect([address, status]).toEqual([address, 200]);
    }
    expect(sitemap.body).toContain(`<xhtml:link rel="alternate" hreflang="zh" href="${ORIGIN}/docs?lang=cn"/>`);
    const index = await served('/search-index.cn.json');
    expect(index.type).toBe('application/json; charset=utf-8');
    expect(JSON.parse(index.body)).toMatchObject({ documentCount: expect.any(Number) });
  });
});
