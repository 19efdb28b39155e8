import { LANGUAGES, type Language } from '@stagi/contract/languages.ts';
import type { Root } from 'mdast';
import { visit } from 'unist-util-visit';
import { problemAt } from './ContentError.ts';
import type { Content } from './content.ts';

/**
 * Every link of every page that leads nowhere, and every translation whose places are not those of the English page:
 * `file:line: …`. `isRoute` says whether the web app or the server answers an address that is no written page.
 */
export function checkLinks(
  content: Content,
  { isRoute }: { isRoute: (path: string) => boolean },
): { problems: string[]; links: number } {
  const problems: string[] = [];
  let links = 0;
  // Reading a page takes long, its tree much memory: each is read once, and only this is kept of it.
  const pages = content.paths().flatMap(({ path }) =>
    LANGUAGES.flatMap((language) => {
      const page = content.written(path, language);
      if (!page) return [];
      const { ids, tree } = page.parsed();
      return { path, language, file: page.source.file, ids, links: linksIn(tree) };
    }),
  );
  const known = new Set(pages.map(({ path }) => path));
  const places = new Map(pages.map(({ path, language, ids }) => [`${language} ${path}`, ids]));
  const placesIn = (path: string, language: Language): ReadonlySet<string> =>
    places.get(`${language} ${path}`) ?? places.get(`en ${path}`) ?? new Set();

  for (const page of pages) {
    const { path, language, file } = page;
    for (const { url, line } of page.links) {
      links += 1;
      const problem = problemOf(url, path, language);
      if (problem) problems.push(problemAt(file, line, problem));
    }
    const missing = [...placesIn(path, 'en')].filter((id) => !page.ids.has(id));
    if (missing.length > 0) {
      problems.push(problemAt(file, 1, `lacks headings of the English page: #${missing.join(', #')}`));
    }
  }
  return { problems, links };

  function problemOf(url: string, from: string, language: Language): string | null {
    if (/^(https:|mailto:)/.test(url)) return null;
    if (/^http:\/\/(localhost|127\.0\.0\.1)\b/.test(url)) return null;
    if (!/^[/#]/.test(url)) return `${url} is no absolute address, nor https`;
    const [whole = '', place] = url.split('#');
    const path = whole === '' ? from : (whole.split('?')[0] ?? '');
    if (!known.has(path)) return isRoute(path) ? null : `${url} does not exist`;
    if (place === undefined || placesIn(path, language).has(place)) return null;
    return `${url}: the page has no heading #${place}`;
  }
}

function linksIn(tree: Root): { url: string; line: number | undefined }[] {
  const found: { url: string; line: number | undefined }[] = [];
  visit(tree, (node) => {
    if (node.type === 'link' || node.type === 'definition') {
      found.push({ url: node.url, line: node.position?.start.line });
    }
  });
  return found;
}
