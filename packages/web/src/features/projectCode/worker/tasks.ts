import type { Root } from 'hast';
import type { LineTokens } from '../highlight/highlightLines.ts';
import type { Language } from '../highlight/languages.ts';

/** What the worker is asked for. */
export type Task =
  | { kind: 'highlight'; text: string; language: Language }
  | { kind: 'markdown'; text: string; folder: string };

export type ToWorker = { id: number; task: Task } | { id: number; cancel: true };

/** The parts of an answer come in order; then `done` or `failed`. */
export type FromWorker =
  | { id: number; part: { lines: LineTokens[] } | { tree: Root } }
  | { id: number; done: true }
  | { id: number; failed: string };
