import type { Plan } from '@stagi/contract/user.ts';
import { text } from './text.ts';

/** What plans are called. Other languages have another word for the plan than for the page that is named Team. */
export const PLAN_WORDS: Record<Plan, string> = {
  Free: text('Free'),
  Individual: text('Individual'),
  Team: text('Team (plan)'),
  Enterprise: text('Enterprise'),
};
