import { text } from './text.ts';

export const CONTACT_TOPICS = [
  text('A model'),
  text('A demo'),
  text('Prices and plans'),
  text('Help'),
  text('Something else'),
] as const;
export type ContactTopic = (typeof CONTACT_TOPICS)[number];

export const CONTACT_NAME_MAX = 100;
export const CONTACT_COMPANY_MAX = 200;
export const CONTACT_MESSAGE_MAX = 5_000;
export const CONTACT_NOTE_MAX = 1_000;

/** Requests are deleted after so many days. */
export const CONTACT_KEPT_DAYS = 180;
