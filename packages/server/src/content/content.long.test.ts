import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { startTestApp } from '../testing/app.ts';
import { linksOfIndex, locationsOfSitemap } from './testing/listedAddresses.ts';

const ORIGIN = 'https://stagi.example';

it('answers every address that it lists for programs', async () => {
  const webDir = mkdtempSync(join(tmpdir(), 'stagi-content-'));
  writeFileSync(join(webDir, 'index.html'), '<head></head>plain');
  const app = await startTestApp({ STAGI_WEB_DIR: webDir, APP_ORIGIN: ORIGIN });
  try {
    const get = (path: string) => fetch(app.url + path, { redirect: 'manual' });
    const links = linksOfIndex(await (await get('/llms.txt')).text(), ORIGIN);
    const addresses = locationsOfSitemap(await (await get('/sitemap.xml')).text());
    expect(links.length).toBeGreaterThan(50);
    expect(addresses.length).toBeGreaterThan(150);
    for (const path of [...links, ...addresses.map((address) => address.slice(ORIGIN.length))])
      expect.soft([path, (await get(path)).status]).toEqual([path, 200]);
    console.log(`addresses visited: n = ${links.length} of llms.txt, ${addresses.length} of sitemap.xml`);
  } finally {
    await app.close();
    rmSync(webDir, { recursive: true });
  }
});
