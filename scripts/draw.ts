import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { LANGUAGES, type Language, LOCALE } from '../packages/contract/src/languages.ts';
import { DRAWN, drawnFile } from '../packages/web/src/drawing/drawn.ts';

// Draws the public pages into the built app: `draw.ts <built drawing program> <dist>`.
type Manifest = Record<string, { file: string; imports?: string[] }>;

const [program = '', dist = ''] = process.argv.slice(2);
const { draw } = (await import(pathToFileURL(program).href)) as {
  draw(path: string, language: Language): Promise<string>;
};
const manifest = JSON.parse(readFileSync(join(dist, '.vite/manifest.json'), 'utf8')) as Manifest;
const template = readFileSync(join(dist, 'index.html'), 'utf8');

for (const language of LANGUAGES)
  for (const [path, module] of Object.entries(DRAWN)) {
    const file = join(dist, drawnFile(language, path));
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, page(await draw(path, language), language, module));
  }
// What the pages asked for is kept for five minutes in case a page asks again, and so would this process be.
process.exit();

function page(drawn: string, language: Language, module: string): string {
  const title = /<title>.*?<\/title>/.exec(drawn)?.[0];
  if (!title) throw new Error('A drawn page has no title');
  const parts: [string, string][] = [
    ['<html lang="en">', `<html lang="${LOCALE[language]}" data-drawn="${language}">`],
    ['<title>Stagi</title>', title],
    ['</head>', `${preloads(module)}</head>`],
    ['<div id="root"></div>', `<div id="root">${drawn.replace(title, '')}</div>`],
  ];
  return parts.reduce((html, [from, to]) => {
    if (!html.includes(from)) throw new Error(`index.html has no ${from}`);
    return html.replace(from, () => to);
  }, template);
}

/** Links that fetch the page's own code beside the app's. */
function preloads(module: string): string {
  const files = [...chunksOf(module)].map((key) => manifest[key]?.file ?? '');
  return files
    .filter((file) => !template.includes(file))
    .map((file) => `<link rel="modulepreload" crossorigin href="/${file}">`)
    .join('');
}

function chunksOf(key: string, found = new Set<string>()): Set<string> {
  const chunk = manifest[key];
  if (!chunk) throw new Error(`The built app has no ${key}`);
  if (found.has(key)) return found;
  found.add(key);
  for (const imported of chunk.imports ?? []) chunksOf(imported, found);
  return found;
}
