import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { LANGUAGES, type Language, LOCALE } from '../packages/contract/src/languages.ts';
import { PRERENDERED_PAGES, prerenderedFile, ROUTE_MODULES } from '../packages/web/src/prerender/prerenderedPages.ts';

// Prerenders the public pages into the built app: `prerender.ts <built prerenderEntry> <dist>`.
type Manifest = Record<string, { file: string; imports?: string[]; css?: string[] }>;
type PrerenderedPage = { markup: string; description: string };

/** The scripts that a language is written in, as the font's files name them. Others come from the system's fonts. */
const SCRIPTS: Record<Language, string[]> = {
  en: ['latin'],
  cn: ['latin'],
  ru: ['latin', 'cyrillic'],
  tr: ['latin', 'latin-ext'],
};

const [program = '', dist = ''] = process.argv.slice(2);
const { prerenderPage } = (await import(pathToFileURL(program).href)) as {
  prerenderPage(path: string, language: Language): Promise<PrerenderedPage>;
};
const manifest = JSON.parse(readFileSync(join(dist, '.vite/manifest.json'), 'utf8')) as Manifest;
const template = withLowPriorityCode(readFileSync(join(dist, 'index.html'), 'utf8'));

for (const language of LANGUAGES)
  for (const [path, module] of Object.entries(PRERENDERED_PAGES)) {
    const file = join(dist, prerenderedFile(language, path));
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, page(await prerenderPage(path, language), language, module));
  }
writeFileSync(join(dist, 'index.html'), withFonts(template, 'en'));
const links = Object.entries(ROUTE_MODULES).map(([path, modules]) => [path, preloads(modules, 'preload')]);
writeFileSync(join(dist, 'prerendered/links.json'), JSON.stringify(Object.fromEntries(links)));
// The query cache of the pages would keep this process alive for five minutes.
process.exit();

function page({ markup, description }: PrerenderedPage, language: Language, module: string): string {
  const title = /<title>.*?<\/title>/.exec(markup)?.[0];
  if (!title) throw new Error('A prerendered page has no title');
  return replaced(withFonts(template, language), [
    ['<html lang="en">', `<html lang="${LOCALE[language]}" data-prerendered="${language}">`],
    ['<title>Stagi</title>', title],
    [/(?<=name="description"\s+content=")[^"]*/, description.replaceAll('"', '&quot;')],
    ['</head>', `${preloads([module], 'stylesheet')}</head>`],
    [/<!--placeholder-->.*<!--\/placeholder-->/s, markup.replace(title, '')],
  ]);
}

function replaced(html: string, parts: [from: string | RegExp, to: string][]): string {
  return parts.reduce((before, [from, to]) => {
    if (typeof from === 'string' ? !before.includes(from) : !from.test(before))
      throw new Error(`index.html has no ${from}`);
    return before.replace(from, () => to);
  }, html);
}

/** The first paint needs style sheets, not code: code must not take their bandwidth. */
function withLowPriorityCode(html: string): string {
  return html
    .replaceAll('<link rel="modulepreload"', '<link rel="modulepreload" fetchpriority="low"')
    .replace('<script type="module"', '<script type="module" fetchpriority="low"');
}

/** Preloads the font: known from the style sheet alone, it would come after the first paint. */
function withFonts(html: string, language: Language): string {
  const links = SCRIPTS[language].map((script) => {
    const key = Object.keys(manifest).find((name) => name.endsWith(`/inter-${script}-wght-normal.woff2`));
    if (!key) throw new Error(`The built app has no font for ${script}`);
    return `<link rel="preload" as="font" type="font/woff2" crossorigin href="/${manifest[key]?.file}">`;
  });
  return replaced(html, [['</title>', `</title>${links.join('')}`]]);
}

/** Links that load the page's own code beside the app's. Style sheets of prerendered markup block the first paint. */
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
