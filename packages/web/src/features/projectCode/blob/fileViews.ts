import { fileNameOf } from '../codeAddress.ts';

/** How a file can be looked at. `preview` shows what it means, `source` its text. */
export type FileView = 'preview' | 'source' | 'blame';

export const isMarkdown = (path: string): boolean => /\.(?:md|markdown|mdown|mkd)$/i.test(fileNameOf(path));
export const isNotebook = (path: string): boolean => /\.ipynb$/i.test(fileNameOf(path));

/** The views of a text file, the one first that is shown when the address names none. */
export function viewsOf(path: string, imageType: string | null): FileView[] {
  return isMarkdown(path) || isNotebook(path) || imageType !== null
    ? ['preview', 'source', 'blame']
    : ['source', 'blame'];
}
