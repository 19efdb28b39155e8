import { z } from 'zod';
import { call } from './call.ts';

export const containerAccess = {
  enter: call({
    path: 'docker-container/port/enter',
    summary:
      'Opens a port of a container in my browser: a link to its own host with a code that is good once, for 60 seconds, and only in the browser that came from there. Asks for a permission of the workspace of the container, whichever X-Client-ID names.',
    auth: 'signed-in',
    input: z.object({
      /** One that no container has is none of ours, whatever it looks like. */
      slug: z.string().max(60),
      /** The whole address on the host of the port that its visitor wanted to see. */
      returnUrl: z.string().max(4096),
      /** What the host of the port has given its visitor on the way here. Without it the link leads there first. */
      trip: z.string().max(100).optional(),
    }),
    output: z.object({ isSuccess: z.literal(true), link: z.string() }),
  }),
};
