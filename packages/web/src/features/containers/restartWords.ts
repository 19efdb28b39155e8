import type { Container } from '@stagi/contract/containers.ts';
import { text } from '@stagi/contract/text.ts';

/** When a container that ended is started again, in words. */
export const RESTART_WORDS: Record<Container['restartPolicy'], string> = {
  no: text('Never'),
  'on-failure': text('After a failure'),
  'unless-stopped': text('Always, unless stopped'),
  always: text('Always'),
};
