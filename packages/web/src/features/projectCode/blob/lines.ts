import type { BlameRange, CommitLine } from '@stagi/contract/projectCode.ts';
import type { ReactNode } from 'react';

/** From 1, both included. */
export interface Lines {
  from: number;
  to: number;
}

export interface Blame {
  ranges: readonly BlameRange[];
  commits: ReadonlyMap<string, CommitLine>;
  /** What stands beside the first line of a range. */
  cell(range: BlameRange): ReactNode;
}

/** A line break at the end begins no line. */
export function linesOf(text: string): string[] {
  if (text === '') return [];
  const lines = text.split('\n');
  if (lines.at(-1) === '') lines.pop();
  return lines;
}
