import { runCodeTask } from '../worker/codeTasks.ts';
import type { LineTokens } from './highlightLines.ts';
import type { Language } from './languages.ts';

/** The tokens of a text as they arrive, line after line. */
export class Highlighting {
  readonly lines: LineTokens[] = [];
  readonly #listeners = new Set<() => void>();

  /** Resolves when all lines are there. */
  async run(text: string, language: Language, signal: AbortSignal): Promise<void> {
    const take = (part: object): void => {
      if (!('lines' in part)) return;
      for (const line of part.lines as LineTokens[]) this.lines.push(line);
      for (const listener of this.#listeners) listener();
    };
    await runCodeTask({ kind: 'highlight', text, language }, take, signal);
  }

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };
}
