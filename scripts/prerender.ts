import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { LANGUAGES, type Language, LOCALE } from '../packages/contract/src/languages.ts';
import type { Model } from '../packages/contract/src/models.ts';
import { paths } from '../packages/web/src/paths.ts';
import {
  ANSWERS_ID,
  MODEL_MODULE,
  PRERENDERED_PAGES,
  type PrerenderedAnswers,
  type PrerenderedPage,
  type Prerenderer,
  prerenderedFile,
  ROUTE_MODULES,
} from '../packages/web/src/prerender/prerenderedPages.ts';
import { answerOf, builtInModels } from './catalogueAnswers.ts';

// Prerenders the public pages into the built app: `prerender.ts <built prerenderEntry> <dist>`.
type Manifest = Record<string, { file: string; imports?: string[]; css?: string[] }>;

/** The scripts that a language is written in, as the font's files name them. Others come from the system's fonts. */
const SCRIPTS: Record<Language, string[]> = {
  en: ['latin'],
  cn: ['latin'],
  ru: ['latin', 'cyrillic'],
  tr: ['latin', 'latin-ext'],
};

/** In place of the site's origin, which the server writes when it sends the page. */
const ORIGIN = 'https://origin.invalid';

interface Page {
  path: string;
  /** Of the page's code. */
  module: string;
  /** What it is about. */
  model?: Model;
}

const [program = '', dist = ''] = process.argv.slice(2);
const { prerenderPage, questionsOf } = (await import(pathToFileURL(program).href)) as Prerenderer;
const manifest = JSON.parse(readFileSync(join(dist, '.vite/manifest.json'), 'utf8')) as Manifest;
const template = withLowPriorityCode(readFileSync(join(dist, 'index.html'), 'utf8'));

const pages: Page[] = [
  ...Object.entries(PRERENDERED_PAGES).map(([path, module]) => ({ path, module })),
  ...builtInModels.map((model) => ({ path: paths.model(model.name), module: MODEL_MODULE, model })),
];
for (const of of pages) {
  const answers = await answersOf(of);
  for (const language of LANGUAGES) {
    const file = join(dist, prerenderedFile(language, of.path));
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, html(of, language, answers, await prerenderPage(of.path, language, answers, of.model)));
  }
}
writeFileSync(join(dist, 'index.html'), withFonts(template, 'en'));
const links = Object.entries(ROUTE_MODULES).map(([path, modules]) => [path, preloads(modules, 'preload')]);
writeFileSync(join(dist, 'prerendered/links.json'), JSON.stringify(Object.fromEntries(links)));
// The query cache of the pages would keep this process alive for five minutes.
process.exit();

/** A model is asked for by its name, or by its repository where the address has that too. */
async function answersOf({ path, model }: Page): Promise<PrerenderedAnswers> {
  const asked = await questionsOf(path);
  const byId = model && (await questionsOf(paths.model(model.name, model.id)));
  return {
    title: model?.title,
    model: model?.id,
    answers: asked.map((key, index) => ({
      keys: byId?.[index] ? [key, byId[index]] : [key],
      output: answerOf(...key),
    })),
  };
}

function html({ path, module }: Page, language: Language, answers: PrerenderedAnswers, page: PrerenderedPage): string {
  const { markup, description } = page;
  const title = /<title>.*?<\/title>/.exec(markup)?.[0];
  if (!title) throw new Error(`The prerendered ${path} has no title`);
  const head = `<link rel="canonical" href="${ORIGIN}${path}">${preloads([module], 'stylesheet')}`;
  return replaced(withFonts(template, language), [
    ['<html lang="en">', `<html lang="${LOCALE[language]}" data-prerendered="${language}">`],
    ['<title>Stagi</title>', title],
    [/(?<=name="description"\s+content=")[^"]*/, description.replaceAll('&', '&amp;').replaceAll('"', '&quot;')],
    ['</head>', `${head}</head>`],
    [/<!--placeholder-->.*<!--\/placeholder-->/s, markup.replace(title, '')],
    ['</body>', `${jsonOf(answers)}</body>`],
  ]);
}

/** For the app, whose first render is then what stands here. "<" could end the element. */
function jsonOf(answers: PrerenderedAnswers): string {
  if (answers.answers.length === 0) return '';
  const json = JSON.stringify(answers).replaceAll('<', '\\u003c');
  return `<script id="${ANSWERS_ID}" type="application/json">${json}</script>`;
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
