import { z } from 'zod';
import { call } from './call.ts';
import { Id } from './page.ts';
import { Profile } from './user.ts';

/** The steps of the checklist for new users, in order. */
export const GETTING_STARTED_STEPS = ['key', 'server', 'container', 'log'] as const;
export type GettingStartedStep = (typeof GETTING_STARTED_STEPS)[number];

export const gettingStarted = {
  view: call({
    path: 'getting-started/view',
    summary:
      'Which first steps have been done: by the user the key and the log, by the workspace the server and the container.',
    auth: 'member',
    input: z.object({}),
    output: z.object({
      isSuccess: z.literal(true),
      done: z.record(z.enum(GETTING_STARTED_STEPS), z.boolean()),
      /** The newest container, whose log can be opened. */
      containerId: Id.nullable(),
    }),
  }),
  edit: call({
    path: 'getting-started/edit',
    summary: 'Closes the checklist for good, or records that the user has seen a log.',
    auth: 'signed-in',
    input: z.object({ closed: z.literal(true).optional(), logSeen: z.literal(true).optional() }),
    output: Profile,
  }),
};
