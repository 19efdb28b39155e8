import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { BRAND } from '../packages/contract/src/brand.ts';
import { LANGUAGES, type Language, LOCALE } from '../packages/contract/src/languages.ts';
import type { Model } from '../packages/contract/src/models.ts';
import { ROUTES } from '../packages/contract/src/routes.ts';
import { paths } from '../packages/web/src/paths.ts';
import {
  ANSWERS_ID,
  FOOTER,
  HEADER_OF_USERS,
  MODEL_MODULE,
  PRERENDERED_ORIGIN,
  PRERENDERED_PAGES,
  type PrerenderedAnswers,
  type PrerenderedPage,
  type Prerenderer,
  prerenderedFile,
  ROUTE_MODULES,
  WRITTEN_MODULES,
} from '../packages/web/src/prerender/prerenderedPages.ts';
import { answerOf, builtInModels } from './catalogueAnswers.ts';
import { pageHead } from './pageHead.ts';
import { answerOfWritten, searchIndexFile, type WrittenSubject, writtenLists, writtenPages } from './writtenAnswers.ts';

// Prerenders the public pages into the built app: `prerender.ts <built prerenderEntry> <dist>`.
interface Chunk {
  file: string;
  imports?: string[];
  css?: string[];
}
type Manifest = Record<string, Chunk>;

/** The scripts that a language is written in, as the font's files name them. Others come from the system's fonts. */
const SCRIPTS: Record<Language, string[]> = {
  en: ['latin'],
  cn: ['latin'],
  ru: ['latin', 'cyrillic'],
  tr: ['latin', 'latin-ext'],
};

const PLACEHOLDER = /<!--placeholder-->(.*)<!--\/placeholder-->/s;

const DEMO = 'src/demoMain.tsx';
const DEMO_APP = 'src/demoApp.tsx';
const DEMO_DESCRIPTION = `${BRAND} over recorded data of a made-up workspace: walk through servers, containers, storages, projects and tasks without an account.`;

interface Page {
  path: string;
  /** Of the page's code. */
  modules: readonly string[];
  /** What it is about. */
  model?: Model;
  written?: WrittenSubject;
}

const [program = '', dist = ''] = process.argv.slice(2);
const { prerenderPage, questionsOf } = (await import(pathToFileURL(program).href)) as Prerenderer;
const manifest = JSON.parse(readFileSync(join(dist, '.vite/manifest.json'), 'utf8')) as Manifest;
const template = withLowPriorityCode(readFileSync(join(dist, 'index.html'), 'utf8'));

const pages: Page[] = [
  ...Object.entries(PRERENDERED_PAGES).map(([path, module]) => ({ path, modules: [module] })),
  ...writtenLists.map(({ path, section }) => ({ path, modules: WRITTEN_MODULES[section] })),
  ...builtInModels.map((model) => ({ path: paths.model(model.name), modules: [MODEL_MODULE], model })),
  ...writtenPages.map((written) => ({ path: written.path, modules: WRITTEN_MODULES[written.section], written })),
];
for (const of of pages) {
  for (const language of of.written?.languages ?? LANGUAGES) {
    const answers = await answersOf(of, language);
    const description = of.written?.in(language).description;
    const page = await prerenderPage(of.path, language, answers, { model: of.model, description });
    const file = join(dist, prerenderedFile(language, of.path));
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, html(of, language, answers, page));
  }
}
for (const language of LANGUAGES) {
  const { name, text } = await searchIndexFile(language);
  writeFileSync(join(dist, name), text);
}
writeFileSync(join(dist, 'prerendered/demo.html'), withFonts(demoPage(), 'en'));
writeFileSync(join(dist, 'index.html'), withFonts(template, 'en'));
const links = Object.entries(ROUTE_MODULES).map(([path, modules]) => [path, preloads(modules, 'preload')]);
writeFileSync(join(dist, 'prerendered/links.json'), JSON.stringify(Object.fromEntries(links)));
// The query cache of the pages would keep this process alive for five minutes.
process.exit();

/** A model is asked for by its name, or by its repository where the address has that too. */
async function answersOf({ path, model, written }: Page, language: Language): Promise<PrerenderedAnswers> {
  const asked = await questionsOf(path, language);
  const byId = model && (await questionsOf(paths.model(model.name, model.id), language));
  return {
    title: model?.title ?? written?.in(language).title,
    about: model?.id ?? written?.id?.toString(),
    answers: await Promise.all(
      asked.map(async (key, index) => ({
        keys: byId?.[index] ? [key, byId[index]] : [key],
        output: (await answerOfWritten(...key)) ?? answerOf(...key),
      })),
    ),
  };
}

/** The page of every address of the demo: the app's own with another entry. */
function demoPage(): string {
  const entry = manifest[DEMO]?.file;
  const usual = manifest['index.html']?.file;
  if (!entry || !usual) throw new Error('The built app has no entry of the demo');
  return replaced(template, [
    [usual, entry],
    ['<title>Stagi</title>', `<title>Demo · ${BRAND}</title>`],
    [/(?<=name="description"\s+content=")[^"]*/, DEMO_DESCRIPTION],
    [
      '</head>',
      `<link rel="canonical" href="${PRERENDERED_ORIGIN}${paths.demo()}">${preloads([DEMO, DEMO_APP, ...(ROUTE_MODULES[ROUTES.instances.path] ?? [])], 'stylesheet')}</head>`,
    ],
  ]);
}

function html(of: Page, language: Language, answers: PrerenderedAnswers, page: PrerenderedPage): string {
  const { path, modules, written } = of;
  const { markup, description } = page;
  const title = /<title>.*?<\/title>/.exec(markup)?.[0];
  if (!title) throw new Error(`The prerendered ${path} has no title`);
  const about = pageHead({ path, language, title, description, written });
  const head = `${about}${preloads([...modules, FOOTER], 'stylesheet')}`;
  const placeholder = PLACEHOLDER.exec(template)?.[1] ?? '';
  const signedInCode = `data-signed-in-code="${codeOf([HEADER_OF_USERS, ...modules]).join(' ')}"`;
  const complete = replaced(withFonts(template, language), [
    ['<html lang="en">', `<html lang="${LOCALE[language]}" data-prerendered="${language}" ${signedInCode}>`],
    ['<title>Stagi</title>', title],
    [/(?<=name="description"\s+content=")[^"]*/, description.replaceAll('&', '&amp;').replaceAll('"', '&quot;')],
    ['</head>', `${head}</head>`],
    // Those who do not see the markup see the placeholder.
    ['<div id="root">', `${placeholder}<div id="root">`],
    [PLACEHOLDER, markup.replace(title, '')],
    ['</body>', `${jsonOf(answers)}</body>`],
  ]);
  return withLateCode(complete);
}

/**
 * A prerendered page is read before it is used: `boot.js` loads its code after the first paint. It finds the files in
 * `data-code`, the entry first.
 */
function withLateCode(html: string): string {
  const files: string[] = [];
  const take = (_tag: string, file: string) => {
    files.push(file);
    return '';
  };
  const without = html
    .replace(/<script type="module"[^>]* src="\/([^"]+)"><\/script>\s*/, take)
    .replaceAll(/<link rel="modulepreload"[^>]* href="\/([^"]+)">\s*/g, take);
  if (files[0] !== manifest['index.html']?.file) throw new Error('A prerendered page has no entry');
  return replaced(without, [[' data-prerendered=', ` data-code="${files.join(' ')}" data-prerendered=`]]);
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
  const styles = new Set(chunksOf(modules).flatMap(({ css = [] }) => css));
  return [
    ...[...styles].filter(isNew).map((file) => `<link rel="${styling}" as="style" crossorigin href="/${file}">`),
    ...codeOf(modules).map((file) => `<link rel="modulepreload" fetchpriority="low" crossorigin href="/${file}">`),
  ].join('');
}

/** The files of code that some modules need beside the app's own. */
function codeOf(modules: readonly string[]): string[] {
  return chunksOf(modules)
    .map(({ file }) => file)
    .filter(isNew);
}

/** Whether no page of the template names the file already. */
function isNew(file: string): boolean {
  return !template.includes(file);
}

function chunksOf(modules: readonly string[]): Chunk[] {
  const found = new Set<string>();
  for (const module of modules) collect(module, found);
  return [...found].flatMap((key) => manifest[key] ?? []);
}

function collect(key: string, found: Set<string>): void {
  const chunk = manifest[key];
  if (!chunk) throw new Error(`The built app has no ${key}`);
  if (found.has(key)) return;
  found.add(key);
  for (const imported of chunk.imports ?? []) collect(imported, found);
}
