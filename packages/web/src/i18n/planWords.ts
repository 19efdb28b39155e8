import { text } from '@stagi/contract/text.ts';
import type { Plan } from '@stagi/contract/user.ts';

/** What plans are called. Other languages have another word for the plan than for the page that is named Team. */
export const PLAN_WORDS: Record<Plan, string> = {
  Free: text('Free'),
  Individual: text('Individual'),
  Team: text('Team (plan)'),
  Enterprise: text('Enterprise'),
};
