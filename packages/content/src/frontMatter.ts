import { LineCounter, parseDocument } from 'yaml';
import { z } from 'zod';
import { ContentError, problemAt } from './ContentError.ts';

const FrontMatter = z.strictObject({
  title: z.string().trim().min(1).max(100),
  /** For search results and previews of links. */
  description: z.string().trim().min(1).max(160),
  /** The place within the group; in an `index.md` that of the group. */
  order: z.int().min(0).optional(),
  /** Of a post. */
  id: z.int().positive().optional(),
  date: z.iso.date().optional(),
});
export type FrontMatter = z.infer<typeof FrontMatter>;

export interface Parted {
  front: FrontMatter;
  /** The text, with an empty line for each line of front matter: lines keep their numbers. */
  body: string;
}

/** Parts the front matter from the text; throws `ContentError` with the line of each wrong field. */
export function partFrontMatter(text: string, file: string, needed: readonly (keyof FrontMatter)[]): Parted {
  const [whole, yaml = ''] = /^---\n([\s\S]*?\n)---(?:\n|$)/.exec(text) ?? [];
  if (whole === undefined) throw new ContentError([problemAt(file, 1, 'begins with front matter between two "---"')]);
  const lines = new LineCounter();
  const document = parseDocument(yaml, { lineCounter: lines, prettyErrors: false });
  // The fence is the first line of the file.
  const lineAt = (offset: number): number => lines.linePos(offset).line + 1;
  if (document.errors.length > 0) {
    throw new ContentError(document.errors.map((error) => problemAt(file, lineAt(error.pos[0]), error.message)));
  }
  const parsed = FrontMatter.safeParse(document.toJS());
  if (!parsed.success) {
    throw new ContentError(
      parsed.error.issues.map((issue) => {
        const field = String(issue.path[0] ?? '');
        const offset = yaml.search(new RegExp(`^${field}\\s*:`, 'm'));
        return problemAt(file, field && offset >= 0 ? lineAt(offset) : 1, `${field} ${issue.message}`.trim());
      }),
    );
  }
  const missing = needed.filter((field) => parsed.data[field] === undefined);
  if (missing.length > 0) throw new ContentError(missing.map((field) => problemAt(file, 1, `${field} is missing`)));
  return { front: parsed.data, body: '\n'.repeat(whole.split('\n').length - 1) + text.slice(whole.length) };
}
