import type { Container } from '@stagi/contract/containers.ts';
import { text } from '@stagi/contract/text.ts';
import { useT } from '../../i18n/i18n.ts';

const PHASES: Record<string, string> = {
  pulling: text('Pulling the image'),
  creating: text('Creating'),
  starting: text('Starting'),
  stopping: text('Stopping the old container'),
  removing: text('Removing the old container'),
};

/** What happens to a container right now, in a few words. */
export function useProgressText(): (container: Pick<Container, 'progress'>) => string | null {
  const t = useT();
  return ({ progress }) => {
    if (!progress) return null;
    const word = t(PHASES[progress.phase] ?? progress.phase);
    return progress.fraction === null ? word : `${word} ${Math.round(progress.fraction * 100)} %`;
  };
}
