import { z } from 'zod';
import { call } from './call.ts';
import { nameOf } from './fields.ts';
import { registryHost } from './imageReference.ts';
import { Id, oneOf, SuccessResponse } from './page.ts';
import { text } from './text.ts';

/** A workspace has credentials for at most so many registries. */
export const REGISTRIES_MAX = 50;

const HOST = /^(?=.{1,255}$)[a-z0-9](?:[a-z0-9-]*[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]*[a-z0-9])?)*(?::\d{1,5})?$/;

/** A registry as image references name it. Docker Hub has several names: all become `docker.io`. */
export const RegistryHost = z
  .string(text('Registry is required'))
  .trim()
  .toLowerCase()
  .min(1, text('Registry is required'))
  .refine((host) => !host.includes('/'), text('Enter the host alone, without https:// and without a path'))
  .refine(
    (host) => host.includes('/') || (HOST.test(host) && (/[.:]/.test(host) || host === 'localhost')),
    text('Enter a host like ghcr.io or registry.example.com:5000'),
  )
  .transform(registryHost);

/** What a server logs in to a registry with. The password is never sent back. */
export const RegistryCredential = z.object({
  id: Id,
  host: z.string(),
  username: z.string(),
  createdAt: z.string(),
  createdBy: z.string().nullable(),
  /** Rented instances log in with it. */
  isForRented: z.boolean(),
  /** The self-hosted instances that do: those of the time at which it was stored. */
  ownServers: z.array(z.object({ id: Id, title: z.string() })),
});
export type RegistryCredential = z.infer<typeof RegistryCredential>;

const MANAGE = ['INSTANCE_RENTED_MANAGEMENT', 'SELFHOSTED_INSTANCE_MANAGEMENT'] as const;

export const registries = {
  list: call({
    path: 'docker-container/registry/list',
    summary: 'The registries that the workspace has credentials for, by host. Passwords are not shown.',
    auth: MANAGE,
    byToken: true,
    input: z.object({}),
    output: z.object({ isSuccess: z.literal(true), entities: z.array(RegistryCredential) }),
  }),
  add: call({
    path: 'docker-container/registry/add',
    summary:
      'Stores a credential for a registry, in place of an earlier one, for rented instances and for the self-hosted instances that there are now. Pulls that it was refused for are retried.',
    auth: MANAGE,
    byToken: true,
    input: z.strictObject({
      host: RegistryHost,
      username: nameOf({
        required: text('User name is required'),
        tooLong: text('User name is too long: at most 256 characters'),
        max: 256,
        // RFC 7617: a colon ends the user name.
      }).regex(/^[^:]*$/, text('User name must not contain ":"')),
      /** A password or an access token. Never trimmed. */
      secret: z
        .string(text('Password is required'))
        .min(1, text('Password is required'))
        .max(8_192, text('Password is too long: at most 8,192 characters'))
        .refine((secret) => !secret.includes('\0'), text('Value must not contain a NUL')),
    }),
    output: oneOf(RegistryCredential),
  }),
  remove: call({
    path: 'docker-container/registry/remove',
    summary: 'Deletes a credential. Images that were pulled with it stay on their servers.',
    auth: MANAGE,
    byToken: true,
    input: z.object({ id: Id }),
    output: SuccessResponse,
  }),
};
