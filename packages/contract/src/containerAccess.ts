import { z } from 'zod';
import { call } from './call.ts';
import { PortMapping } from './containerFields.ts';
import { Container } from './containers.ts';
import { HostPort } from './fields.ts';
import { oneOf, Ref } from './page.ts';

export const containerAccess = {
  enter: call({
    path: 'docker-container/port/enter',
    summary:
      'Opens a port of a container in my browser: a link to its own host with a code that is good once, for 60 seconds, and only in the browser that came from there. Asks for a permission of the workspace of the container, whichever X-Client-ID names.',
    auth: 'signed-in',
    input: z.object({
      /** Not checked for its form: an unknown slug is not found. */
      slug: z.string().max(60),
      /** The complete URL on the port's host that the visitor opened. */
      returnUrl: z.string().max(4096),
      /** Binds the code to the browser: the port's host gave it to its visitor. Without it the link leads there first. */
      trip: z.string().max(100).optional(),
    }),
    output: z.object({ isSuccess: z.literal(true), link: z.string() }),
  }),
  editPorts: call({
    path: 'docker-container/port/edit',
    summary: 'Makes ports of a container private or public. Its server binds them so when it is next recreated.',
    auth: ['INSTANCE_RENTED_MANAGEMENT', 'SELFHOSTED_INSTANCE_MANAGEMENT'],
    byToken: true,
    input: z.strictObject({
      ref: Ref,
      portMappings: z
        .array(z.strictObject({ host: HostPort, visibility: PortMapping.shape.visibility.unwrap() }))
        .min(1)
        .max(100),
    }),
    output: oneOf(Container),
  }),
};
