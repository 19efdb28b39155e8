import { mkdirSync } from 'node:fs';
import { api } from '@stagi/contract/api.ts';
import { enterAsNewPerson } from './people.ts';
import { expect, test } from './fixtures.ts';
import { walkTo, followLink } from './navigation.ts';
import { localRepository, fillRepository, addScripts } from './codeRepository.ts';
import { fake } from '/tmp/pcodeweb/fakeCode.ts';
test('look', async ({ page, platform }) => {
  test.setTimeout(400_000);
  const r = localRepository(); const { first, fix } = fillRepository(r);
  const dir = r.git('rev-parse', '--show-toplevel');
  if (process.env.BIG) { r.git('fetch', '-q', process.env.BIG, 'HEAD'); r.git('branch', 'big', 'FETCH_HEAD'); }
  const answer = fake(dir);
  page.on('console', (m) => { if (['error', 'warning'].includes(m.type())) console.log('CONSOLE', m.text().slice(0, 300)); });
  page.on('pageerror', (e) => console.log('PAGEERROR', e.message, e.stack?.slice(0, 400)));
  await page.route('**/frontend-api/project/code/*', async (route) => {
    const name = route.request().url().split('/').at(-1)!;
    const a = answer(name, route.request().postDataJSON());
    await route.fulfill(a === null ? { status: 404, json: { isSuccess: false, message: 'no' } } : { json: a });
  });
  const ada = await enterAsNewPerson(page, platform);
  const { entity: p } = await ada.client(api.projects.create, { title: 'Doubler', slug: 'doubler', description: 'Doubles numbers' });
  await page.route('**/frontend-api/project/view', async (route) => { const res = await route.fetch(); const j = await res.json(); j.entity.isEmpty = false; j.entity.status = 'active'; await route.fulfill({ json: j }); });
  const id = p.id; const out = '/tmp/pcodeweb/shots';
  const blob = (path: string, ref = 'main') => `/projects/${id}/blob/${ref}/${encodeURIComponent(path)}/${r.git('rev-parse', `${ref}:${path}`)}`;
  const pages: [string, string][] = [
    ['tree', `/projects/${id}/code/tree`], ['blob', blob('src/model.py') + '#L3-L6'], ['blame', blob('src/model.py') + '?view=blame'],
    ['commit', `/projects/${id}/commit/main/${fix}`], ['split', `/projects/${id}/commit/main/${fix}?diff=split`], ['commit1', `/projects/${id}/commit/main/${r.git('rev-parse', fix + '~1')}`],
    ['commits', `/projects/${id}/commits/main`], ['notebook', blob('notes.ipynb')], ['binary', blob('weights.bin')], ['lfs', blob('data/model.safetensors')], ['search', `/projects/${id}/code/tree?search=double`], ['folder', `/projects/${id}/code/tree/main/${fix}/src`], ['readmefile', blob('README.md')],
    ...(process.env.EXTRA ? (JSON.parse(process.env.EXTRA) as [string, string][]).map(([a, b]) => [a, b.replace('ID', String(id))] as [string, string]) : []),
  ];
  const only = process.env.ONLY?.split(',');
  for (const [name, path] of pages) {
    if (only && !only.includes(name)) continue;
    await followLink(page, path); await page.waitForTimeout(1200);
    for (const [w, h, theme] of [[1280, 900, 'light'], [360, 740, 'dark'], [768, 900, 'light']] as const) {
      await page.setViewportSize({ width: w, height: h }); await page.emulateMedia({ colorScheme: theme });
      await page.waitForTimeout(300);
      await page.screenshot({ path: `${out}/${name}-${w}-${theme}.png`, fullPage: true });
      const wide = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
      if (wide > 0) console.log(name, w, 'wider by', wide);
    }
  }
  r.remove();
});
