import { text } from '../i18n/text.ts';

export type StatusTone = 'ok' | 'busy' | 'warn' | 'bad' | 'idle' | 'off';

/** Every status of the product (specification section 4): its word and the family its shape and colour come from. */
export const STATUS: Record<string, { word: string; tone: StatusTone }> = {
  online: { word: text('Online'), tone: 'ok' },
  running: { word: text('Running'), tone: 'ok' },
  rented: { word: text('Rented'), tone: 'ok' },
  done: { word: text('Done'), tone: 'ok' },
  finished: { word: text('Finished'), tone: 'ok' },
  'in queue': { word: text('In queue'), tone: 'busy' },
  'in progress': { word: text('In progress'), tone: 'busy' },
  new: { word: text('New'), tone: 'busy' },
  pending: { word: text('Pending'), tone: 'busy' },
  scheduled: { word: text('Scheduled'), tone: 'busy' },
  creating: { word: text('Creating'), tone: 'busy' },
  renting: { word: text('Renting'), tone: 'busy' },
  starting: { word: text('Starting'), tone: 'busy' },
  stopping: { word: text('Stopping'), tone: 'busy' },
  rebooting: { word: text('Rebooting'), tone: 'busy' },
  'powering on': { word: text('Powering on'), tone: 'busy' },
  'powering off': { word: text('Powering off'), tone: 'busy' },
  terminating: { word: text('Terminating'), tone: 'busy' },
  canceling: { word: text('Canceling'), tone: 'busy' },
  'awaiting setup': { word: text('Awaiting setup'), tone: 'warn' },
  unresponsive: { word: text('Unresponsive'), tone: 'warn' },
  error: { word: text('Error'), tone: 'bad' },
  failed: { word: text('Failed'), tone: 'bad' },
  'creation failed': { word: text('Creation failed'), tone: 'bad' },
  stopped: { word: text('Stopped'), tone: 'idle' },
  exited: { word: text('Exited'), tone: 'idle' },
  offline: { word: text('Offline'), tone: 'idle' },
  terminated: { word: text('Terminated'), tone: 'off' },
  deleted: { word: text('Deleted'), tone: 'off' },
  canceled: { word: text('Canceled'), tone: 'off' },
};
