import type { TaskRun } from '@stagi/contract/tasks.ts';
import { text } from '@stagi/contract/text.ts';
import type { T } from '../../i18n/i18n.ts';

const PHASES: Record<string, string> = {
  pulling: text('Pulling the image'),
  creating: text('Creating the container'),
  preparing: text('Putting code and input in place'),
  starting: text('Starting'),
  saving: text('Storing the output'),
};

/** The slow step that a run is at, in a few words. */
export function progressWords(t: T, progress: NonNullable<TaskRun['progress']>): string {
  const word = t(PHASES[progress.phase] ?? progress.phase);
  return progress.fraction === null ? word : `${word} ${Math.round(progress.fraction * 100)} %`;
}
