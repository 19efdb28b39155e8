export interface Part {
  text: string;
  isChanged: boolean;
}

const LONGEST = 1_000;
/** Marking nearly everything tells nothing. */
const LEAST_SHARE_KEPT = 0.3;

/**
 * What differs between a line and its replacement: all between what both begin with and what both end with, in whole
 * words. Null where they have little in common.
 */
export function changedParts(before: string, after: string): { before: Part[]; after: Part[] } | null {
  if (before.length > LONGEST || after.length > LONGEST) return null;
  const [old, now] = [wordsOf(before), wordsOf(after)];
  const most = Math.min(old.length, now.length);
  let start = 0;
  while (start < most && old[start] === now[start]) start += 1;
  let end = 0;
  while (end < most - start && old[old.length - 1 - end] === now[now.length - 1 - end]) end += 1;
  const kept = [...old.slice(0, start), ...old.slice(old.length - end)].join('').trim().length;
  if (kept < LEAST_SHARE_KEPT * Math.max(before.trim().length, after.trim().length)) return null;
  return { before: parts(old, start, end), after: parts(now, start, end) };
}

const wordsOf = (line: string): string[] => line.match(/[\p{L}\p{N}_]+|\s+|[^\p{L}\p{N}_\s]/gu) ?? [];

function parts(words: readonly string[], start: number, end: number): Part[] {
  const until = words.length - end;
  return [
    { text: words.slice(0, start).join(''), isChanged: false },
    { text: words.slice(start, until).join(''), isChanged: true },
    { text: words.slice(until).join(''), isChanged: false },
  ].filter(({ text }) => text !== '');
}
