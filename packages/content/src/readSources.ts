import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { basename, join, relative, resolve, sep } from 'node:path';
import { CONTENT_SECTIONS, type ContentSection } from '@stagi/contract/content.ts';
import { LANGUAGES, type Language } from '@stagi/contract/languages.ts';
import { ContentError, problemAt } from './ContentError.ts';
import { fenceProblems } from './codeFences.ts';
import { type FrontMatter, partFrontMatter } from './frontMatter.ts';
import type { Source } from './Source.ts';

const NAME = /^[a-z0-9]+(-[a-z0-9]+)*\.md$/;

/** What a page in English needs besides title and description. A translation takes it from there. */
const NEEDED: Record<ContentSection, readonly (keyof FrontMatter)[]> = {
  docs: ['order'],
  tutorials: ['order'],
  blog: ['id', 'date'],
  legal: [],
};

/** Every page below `<section>/<language>/`. Throws `ContentError` with all problems of all files. */
export function readSources(folder: string): Source[] {
  const problems: string[] = [];
  const sources: Source[] = [];
  for (const section of CONTENT_SECTIONS) {
    for (const language of LANGUAGES) {
      const root = join(resolve(folder), section, language);
      for (const name of existsSync(root) ? markdownFiles(root) : []) {
        const file = `${basename(resolve(folder))}/${section}/${language}/${name}`;
        try {
          const source = readSource(join(root, name), { file, name, section, language });
          problems.push(...fenceProblems(source.body(), file));
          sources.push(source);
        } catch (error) {
          if (!(error instanceof ContentError)) throw error;
          problems.push(...error.problems);
        }
      }
    }
  }
  problems.push(...problemsAmong(sources));
  if (problems.length > 0) throw new ContentError(problems);
  return sources;
}

function markdownFiles(root: string): string[] {
  return readdirSync(root, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(root, join(entry.parentPath, entry.name)).split(sep).join('/'))
    .sort();
}

function readSource(
  path: string,
  at: { file: string; name: string; section: ContentSection; language: Language },
): Source {
  const { file, name, section, language } = at;
  const parts = name.split('/');
  if (!parts.every((part, index) => NAME.test(index === parts.length - 1 ? part : `${part}.md`))) {
    throw new ContentError([
      problemAt(file, 1, 'is named with lower-case letters, digits and hyphens, and ends in .md'),
    ]);
  }
  if (parts.length > (section === 'docs' ? 2 : 1)) throw new ContentError([problemAt(file, 1, 'is too deep a folder')]);
  const group = parts.length === 2 ? (parts[0] ?? null) : null;
  const page = (parts.at(-1) ?? '').replace(/\.md$/, '');
  const isIndex = section === 'docs' && page === 'index';
  if (section === 'docs' && !group && !isIndex) {
    throw new ContentError([problemAt(file, 1, 'belongs into the folder of a group')]);
  }
  const isStart = isIndex && !group;
  const { front, body } = partFrontMatter(
    readFileSync(path, 'utf8').replaceAll('\r\n', '\n'),
    file,
    language === 'en' && !isStart ? NEEDED[section] : [],
  );
  const address = [section === 'legal' ? '' : section, group ?? '', isIndex ? '' : page];
  return {
    file,
    section,
    language,
    path: `/${address.filter((part) => part !== '').join('/')}`,
    group,
    isIndex,
    title: front.title,
    description: front.description,
    order: front.order ?? 0,
    id: front.id ?? null,
    date: front.date ?? null,
    isReference: false,
    body: () => body,
  };
}

/** Pages without an English one, groups without an index, and places that two pages claim. */
function problemsAmong(sources: readonly Source[]): string[] {
  const english = sources.filter((source) => source.language === 'en');
  const paths = new Set(english.map((source) => source.path));
  const problems = sources
    .filter((source) => !paths.has(source.path))
    .map((source) => problemAt(source.file, 1, `translates ${source.path}, which is not written in English`));
  const claimed = new Map<string, string>();
  for (const source of english) {
    const { file, section, group, isIndex, path } = source;
    if (group && !paths.has(`/docs/${group}`)) problems.push(problemAt(file, 1, `the group ${group} has no index.md`));
    const claims = [`the address ${path}`];
    if (section === 'blog') claims.push(`the id ${source.id}`);
    if (section === 'tutorials') claims.push(`the order ${source.order} among tutorials`);
    if (section === 'docs' && isIndex && group) claims.push(`the order ${source.order} among groups`);
    if (section === 'docs' && !isIndex) claims.push(`the order ${source.order} in ${group}`);
    for (const claim of claims) {
      const other = claimed.get(claim);
      if (other) problems.push(problemAt(file, 1, `has ${claim}, as ${other} has`));
      else claimed.set(claim, file);
    }
  }
  return problems;
}
