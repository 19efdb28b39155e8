import { visit } from 'unist-util-visit';
import type { Content } from './content.ts';

export interface RunBlock {
  line: number;
  code: string;
}

export interface PageToRun {
  path: string;
  file: string;
  blocks: RunBlock[];
}

/** The `sh run` blocks of each page that has some, in the order of the page. */
export function pagesToRun(content: Content): PageToRun[] {
  return content.paths().flatMap(({ path }) => {
    const page = content.written(path, 'en');
    const blocks: RunBlock[] = [];
    // Examples of the reference are not run.
    if (page && !page.source.isReference) {
      visit(page.parsed().tree, 'code', (node) => {
        if (node.lang === 'sh' && node.meta === 'run') {
          blocks.push({ line: node.position?.start.line ?? 1, code: node.value });
        }
      });
    }
    return page && blocks.length > 0 ? [{ path, file: page.source.file, blocks }] : [];
  });
}
