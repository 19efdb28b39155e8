import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { get, type IncomingHttpHeaders } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { brotliCompressSync, brotliDecompressSync, gunzipSync } from 'node:zlib';
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
    writeFileSync(join(webDir, 'assets/a.js.br'), brotliCompressSync('1'));
    writeFileSync(join(webDir, 'index.html'), page('/assets/a.js'));
    mkdirSync(join(webDir, 'prerendered'));
    writeFileSync(join(webDir, 'prerendered/links.json'), JSON.stringify({ '*': '<!--the not-found page’s code-->' }));
    app = await startTestApp({
      ALLOWED_HOSTS: '127.0.0.1,stagi.example',
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
  /** The bytes as they were sent; `fetch` would unpack them. */
  const sent = (path: string, acceptEncoding: string) =>
    new Promise<{ headers: IncomingHttpHeaders; bytes: Buffer }>((resolve, reject) => {
      get(app.url + path, { headers: { 'accept-encoding': acceptEncoding } }, async (response) => {
        resolve({ headers: response.headers, bytes: Buffer.concat(await response.toArray()) });
      }).on('error', reject);
    });
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

  it('is sent with 404 where no page is, and with the code of the not-found page', async () => {
    const statusOf = async (path: string, method = 'GET') => (await fetch(app.url + path, { method })).status;
    for (const path of [
      '/',
      '/contact?topic=demo',
      '/403',
      '/cloud/instances/7',
      '/cloud/instances/7/terminal',
      '/projects/7/code',
      '/projects/7/code/tree/main/0/0/src%2Fa.ts',
      '/projects/7/code/tree/main/a%5C%5Cb%5Cn%20%2Fc',
      `/projects/7/blob/main/caf%5CxE9.txt/${'0'.repeat(40)}`,
      '/projects/7/tasks/logs/3/run-1',
      '/admin/site',
    ]) {
      expect.soft([path, await statusOf(path)]).toEqual([path, 200]);
      expect.soft([path, await statusOf(path, 'HEAD')]).toEqual([path, 200]);
    }
    for (const path of [
      '/nothing/here',
      '/404',
      '/foo.xml',
      '/wp-login.php',
      '/cloud/instances/x',
      '/cloud/instances/0',
      '/cloud/instances/7/terminal/more',
      '/projects/7/tasks/logs/x/run-1',
      '/contact/more',
    ]) {
      expect.soft([path, await statusOf(path)]).toEqual([path, 404]);
      expect.soft([path, await statusOf(path, 'HEAD')]).toEqual([path, 404]);
      expect.soft(await html(path)).toContain('the not-found page’s code');
    }
    expect(await html('/cloud')).not.toContain('the not-found page’s code');
    // The gallery of the kit is there on this machine only.
    const kit = (host: string) =>
      new Promise<number | undefined>((resolve, reject) => {
        get(`${app.url}/kit/buttons`, { headers: { host } }, (response) => {
          response.resume();
          resolve(response.statusCode);
        }).on('error', reject);
      });
    expect([await kit('localhost:4400'), await kit('stagi.example')]).toEqual([200, 404]);
  });

  it('is compressed as the browser takes it, like the files that the build compressed', async () => {
    const plain = await sent('/cloud', 'identity');
    expect(plain.headers['content-encoding']).toBeUndefined();
    for (const [accepted, encoding, unpack] of [
      ['gzip, deflate, br, zstd', 'br', brotliDecompressSync],
      ['gzip;q=1, br;q=0', 'gzip', gunzipSync],
    ] as const) {
      const { headers, bytes } = await sent('/cloud', accepted);
      expect(headers['content-encoding']).toBe(encoding);
      expect(headers.vary).toBe('Accept-Language, Accept-Encoding');
      expect(unpack(bytes).toString()).toBe(plain.bytes.toString());
    }

    const script = await sent('/assets/a.js', 'gzip, br');
    expect(brotliDecompressSync(script.bytes).toString()).toBe('1');
    expect(script.headers).toMatchObject({
      'content-type': expect.stringMatching(/javascript/),
      'content-encoding': 'br',
      vary: expect.stringMatching(/accept-encoding/i),
      'cache-control': 'public, max-age=31536000, immutable',
    });
    expect((await sent('/assets/a.js', 'gzip')).bytes.toString()).toBe('1');
  });

  it('has another version when it was built anew, without a restart', async () => {
    const { version } = await served();
    expect(version).toMatch(/^[0-9a-f]{12}$/);
    writeFileSync(join(webDir, 'index.html'), page('/assets/b.js'));
    expect((await served()).version).not.toBe(version);
  });
});
