import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { LANGUAGES, type Language, LOCALE } from '../packages/contract/src/languages.ts';
import { DRAWN, drawnFile, HELD_BY } from '../packages/web/src/drawing/drawn.ts';

// Draws the public pages into the built app: `draw.ts <built drawing program> <dist>`.
type Manifest = Record<string, { file: string; imports?: string[]; css?: string[] }>;
type Drawn = { markup: string; description: string };

/** The scripts that a language is written in, by the names of the font's files; others come from the system. */
const SCRIPTS: Record<Language, string[]> = {
  en: ['latin'],
  cn: ['latin'],
  ru: ['latin', 'cyrillic'],
  tr: ['latin', 'latin-ext'],
};

const [program = '', dist = ''] = process.argv.slice(2);
const { draw } = (await import(pathToFileURL(program).href)) as {
  draw(path: string, language: Language): Promise<Drawn>;
};
const manifest = JSON.parse(readFileSync(join(dist, '.vite/manifest.json'), 'utf8')) as Manifest;
const template = calmly(readFileSync(join(dist, 'index.html'), 'utf8'));

for (const language of LANGUAGES)
  for (const [path, module] of Object.entries(DRAWN)) {
    const file = join(dist, drawnFile(language, path));
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, page(await draw(path, language), language, module));
  }
writeFileSync(join(dist, 'index.html'), withFonts(template, 'en'));
const links = Object.entries(HELD_BY).map(([path, modules]) => [path, preloads(modules, 'preload')]);
writeFileSync(join(dist, 'drawn/links.json'), JSON.stringify(Object.fromEntries(links)));
// What the pages asked for is kept for five minutes in case a page asks again, and so would this process be.
process.exit();

function page({ markup, description }: Drawn, language: Language, module: string): string {
  const title = /<title>.*?<\/title>/.exec(markup)?.[0];
  if (!title) throw new Error('A drawn page has no title');
  return replaced(withFonts(template, language), [
    ['<html lang="en">', `<html lang="${LOCALE[language]}" data-drawn="${language}">`],
    ['<title>Stagi</title>', title],
    [/(?<=name="description"\s+content=")[^"]*/, description.replaceAll('"', '&quot;')],
    ['</head>', `${preloads([module], 'stylesheet')}</head>`],
    [/<!--frame-->.*<!--\/frame-->/s, markup.replace(title, '')],
  ]);
}

function replaced(html: string, parts: [from: string | RegExp, to: string][]): string {
  return parts.reduce((before, [from, to]) => {
    if (typeof from === 'string' ? !before.includes(from) : !from.test(before))
      throw new Error(`index.html has no ${from}`);
    return before.replace(from, () => to);
  }, html);
}

/** What is seen first waits for its style sheets and not for its code, which would take the line from them. */
function calmly(html: string): string {
  return html
    .replaceAll('<link rel="modulepreload"', '<link rel="modulepreload" fetchpriority="low"')
    .replace('<script type="module"', '<script type="module" fetchpriority="low"');
}

/** The first paint would otherwise learn of its font from the style sheet only, and the text change its look. */
function withFonts(html: string, language: Language): string {
  const links = SCRIPTS[language].map((script) => {
    const key = Object.keys(manifest).find((name) => name.endsWith(`/inter-${script}-wght-normal.woff2`));
    if (!key) throw new Error(`The built app has no font for ${script}`);
    return `<link rel="preload" as="font" type="font/woff2" crossorigin href="/${manifest[key]?.file}">`;
  });
  return replaced(html, [['</title>', `</title>${links.join('')}`]]);
}

/** Links that fetch the page's own code beside the app's; the style sheets of what is drawn hold the first paint. */
function preloads(modules: readonly string[], styling: 'stylesheet' | 'preload'): string {
  const found = new Set<string>();
  for (const module of modules) chunksOf(module, found);
  const chunks = [...found].flatMap((key) => manifest[key] ?? []);
  const styles = new Set(chunks.flatMap(({ css = [] }) => css));
  const isNew = (file: string) => !template.includes(file);
  return [
    ...[...styles].filter(isNew).map((file) => `<link rel="${styling}" as="style" crossorigin href="/${file}">`),
    ...chunks
      .map(({ file }) => file)
      .filter(isNew)
      .map((file) => `<link rel="modulepreload" fetchpriority="low" crossorigin href="/${file}">`),
  ].join('');
}

function chunksOf(key: string, found: Set<string>): Set<string> {
  const chunk = manifest[key];
  if (!chunk) throw new Error(`The built app has no ${key}`);
  if (found.has(key)) return found;
  found.add(key);
  for (const imported of chunk.imports ?? []) chunksOf(imported, found);
  return found;
}
