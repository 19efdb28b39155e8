import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { buildWeb } from './web.ts';

const KB = 1000;

/** The most JavaScript, gzipped, that a page may fetch before anything is done on it. */
const BUDGETS: readonly { pages: RegExp; kb: number; within?: readonly string[] }[] = [
  {
    pages: /^src\/features\/(home|auth|invitation|contact|content|models\/list|models\/detail)\/\w+Page\.tsx$/,
    kb: 200,
  },
  { pages: /^src\/features\/(?!kit\/)\w+\/\w+Page\.tsx$/, kb: 340, within: ['src/layouts/AppLayout.tsx'] },
];

type Manifest = Record<string, { file: string; imports?: string[]; isDynamicEntry?: boolean }>;

/** Builds the web app where it is stale, and answers a line for each page that is too heavy. */
export async function heavyPages(): Promise<string[]> {
  const { folder } = await buildWeb();
  const manifest = JSON.parse(readFileSync(join(folder, '.vite/manifest.json'), 'utf8')) as Manifest;
  const weighed = weightsOf(manifest, folder);
  if (weighed.length === 0) return ['The built app has no pages to weigh'];
  return weighed
    .filter(({ kb, most }) => kb > most)
    .map(({ page, kb, most }) => `${page} fetches ${kb.toFixed(1)} kB of JavaScript at first, of ${most} allowed`);
}

function weightsOf(manifest: Manifest, folder: string) {
  return Object.keys(manifest).flatMap((page) => {
    const budget = BUDGETS.find(({ pages }) => pages.test(page));
    if (!budget) return [];
    const chunks = new Set<string>();
    for (const start of ['index.html', ...(budget.within ?? []), page]) collect(manifest, start, chunks);
    const files = [...chunks].map((key) => manifest[key]?.file ?? '').filter((file) => file.endsWith('.js'));
    const bytes = files.reduce((sum, file) => sum + gzipSync(readFileSync(join(folder, file)), { level: 9 }).length, 0);
    return [{ page, kb: bytes / KB, most: budget.kb }];
  });
}

function collect(manifest: Manifest, key: string, found: Set<string>): void {
  if (found.has(key)) return;
  found.add(key);
  for (const imported of manifest[key]?.imports ?? []) collect(manifest, imported, found);
}
