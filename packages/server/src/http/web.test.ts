import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { SiteConfiguration } from '@stagi/contract/site.ts';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestApp, type TestApp } from '../testing/app.ts';

const page = (script: string) =>
  `<head><script id="configuration" type="application/json">{}</script></head><script src="${script}"></script>`;

describe('the served page', () => {
  const webDir = mkdtempSync(join(tmpdir(), 'stagi-web-'));
  let app: TestApp;

  beforeAll(async () => {
    mkdirSync(join(webDir, 'assets'));
    writeFileSync(join(webDir, 'assets/a.js'), '1');
    writeFileSync(join(webDir, 'index.html'), page('/assets/a.js'));
    app = await startTestApp({
      STAGI_WEB_DIR: webDir,
      ISSUE_TRACKER_URL: 'https://example.com/issues?a=$&',
      BANNERS: JSON.stringify([{ title: '</script><script>alert(1)</script>', layout: 'home' }]),
    });
  });
  afterAll(async () => {
    await app?.close();
    rmSync(webDir, { recursive: true });
  });

  const html = async (path: string) => (await fetch(app.url + path)).text();
  const served = async () => (await (await fetch(`${app.url}/configuration.json`)).json()) as SiteConfiguration;

  it('carries the site’s configuration at every address, and nothing in it ends the element', async () => {
    for (const path of ['/', '/cloud/instances/7?a=b']) {
      const text = await html(path);
      const json = /<script id="configuration" type="application\/json">(.*?)<\/script>/.exec(text)?.[1] ?? '';
      expect(JSON.parse(json)).toEqual(await served());
      expect(text.match(/<script/g)).toHaveLength(2);
    }
    expect(await served()).toMatchObject({
      issueTrackerUrl: 'https://example.com/issues?a=$&',
      banners: [{ title: '</script><script>alert(1)</script>', layout: 'home' }],
    });
  });

  it('is answered for addresses of pages only', async () => {
    for (const path of ['/assets/gone.js', '/frontend-api/nothing', '/dev/nothing']) {
      const reply = await fetch(app.url + path);
      expect([reply.status, reply.headers.get('content-type')]).toEqual([404, 'application/json; charset=utf-8']);
    }
  });

  it('has another version when it was built anew, without a restart', async () => {
    const { version } = await served();
    expect(version).toMatch(/^[0-9a-f]{12}$/);
    writeFileSync(join(webDir, 'index.html'), page('/assets/b.js'));
    expect((await served()).version).not.toBe(version);
  });
});
