import type { Change, Chunk } from 'parse-diff';
import { changedParts, type Part } from './changedParts.ts';

/** A line of one side. `number` is its place in the file. */
export interface DiffLine {
  kind: 'same' | 'added' | 'removed';
  number: number;
  text: string;
  /** The pieces of a changed line that differ from its counterpart; null: not compared. */
  parts: readonly Part[] | null;
  /** The file ends after this line without a line break. */
  endsOpen: boolean;
}

export type DiffRow =
  | { kind: 'hunk'; text: string }
  /** Unified: one side at least. Split: both beside each other, where there are both. */
  | { kind: 'lines'; before: DiffLine | null; after: DiffLine | null };

const NO_LINE_BREAK = /^\\ No newline at end of file/;

/** The rows of both sides beside each other: removed lines stand beside the added ones that replace them. */
export function splitRows(chunks: readonly Chunk[]): DiffRow[] {
  return chunks.flatMap((chunk): DiffRow[] => {
    const rows: DiffRow[] = [{ kind: 'hunk', text: chunk.content }];
    for (const block of blocksOf(chunk.changes)) {
      if ('same' in block) rows.push({ kind: 'lines', before: block.same.before, after: block.same.after });
      else
        for (let at = 0; at < Math.max(block.removed.length, block.added.length); at += 1)
          rows.push({ kind: 'lines', before: block.removed[at] ?? null, after: block.added[at] ?? null });
    }
    return rows;
  });
}

/** The rows below each other: first what is removed, then what replaces it. */
export function unifiedRows(chunks: readonly Chunk[]): DiffRow[] {
  return chunks.flatMap((chunk): DiffRow[] => [
    { kind: 'hunk', text: chunk.content },
    ...blocksOf(chunk.changes).flatMap((block): DiffRow[] =>
      'same' in block
        ? [{ kind: 'lines', before: block.same.before, after: block.same.after }]
        : [
            ...block.removed.map((before): DiffRow => ({ kind: 'lines', before, after: null })),
            ...block.added.map((after): DiffRow => ({ kind: 'lines', before: null, after })),
          ],
    ),
  ]);
}

type Block = { same: { before: DiffLine; after: DiffLine } } | { removed: DiffLine[]; added: DiffLine[] };

function blocksOf(changes: readonly Change[]): Block[] {
  const blocks: Block[] = [];
  let open: { removed: DiffLine[]; added: DiffLine[] } | null = null;
  let last: DiffLine[] = [];
  for (const change of changes) {
    if (NO_LINE_BREAK.test(change.content)) {
      for (const line of last) line.endsOpen = true;
      continue;
    }
    const text = change.content.slice(1);
    if (change.type === 'normal') {
      open = null;
      const same = { before: line('same', change.ln1, text), after: line('same', change.ln2, text) };
      last = [same.before, same.after];
      blocks.push({ same });
      continue;
    }
    if (open === null) {
      open = { removed: [], added: [] };
      blocks.push(open);
    }
    const made = line(change.type === 'add' ? 'added' : 'removed', change.ln, text);
    last = [made];
    (change.type === 'add' ? open.added : open.removed).push(made);
  }
  for (const block of blocks) if ('removed' in block) compare(block);
  return blocks;
}

/** Compares line by line only where as many lines replace as are replaced. */
function compare({ removed, added }: { removed: DiffLine[]; added: DiffLine[] }): void {
  if (removed.length !== added.length) return;
  for (const [at, before] of removed.entries()) {
    const after = added[at];
    const parts = after && changedParts(before.text, after.text);
    if (!after || !parts) continue;
    before.parts = parts.before;
    after.parts = parts.after;
  }
}

const line = (kind: DiffLine['kind'], number: number, text: string): DiffLine => ({
  kind,
  number,
  text,
  parts: null,
  endsOpen: false,
});
