import { z } from 'zod';
import { call } from './call.ts';
import { Title } from './fields.ts';
import { Done, Id, ListInput, listOf, oneOf } from './page.ts';

export const SshKeyType = z.enum(['ed25519', 'rsa']);

export const SshKey = z.object({
  id: Id,
  title: z.string(),
  /** `ssh-ed25519`, `ssh-rsa`, … */
  type: z.string(),
  publicKey: z.string(),
  /** `SHA256:…` */
  fingerprint: z.string(),
  createdAt: z.string(),
  /** Running servers that let this key in. */
  instanceCount: z.number().int(),
});
export type SshKey = z.infer<typeof SshKey>;

export const sshKeys = {
  list: call({
    path: 'ssh-key/list',
    summary: 'My own SSH keys.',
    auth: 'signed-in',
    byToken: true,
    input: ListInput,
    output: listOf(SshKey),
  }),
  add: call({
    path: 'ssh-key/add',
    summary: 'Adds a public key.',
    auth: ['SSH_KEY_MANAGEMENT'],
    input: z.object({
      title: Title,
      publicKey: z.string('SSH key is required').trim().min(1, 'SSH key is required').max(16_384, 'Invalid SSH key'),
    }),
    output: oneOf(SshKey),
  }),
  generate: call({
    path: 'ssh-key/generate',
    summary: 'Makes a key pair; the private key is in this answer and nowhere else.',
    auth: ['SSH_KEY_MANAGEMENT'],
    input: z.object({ title: Title, type: SshKeyType.default('ed25519') }),
    output: oneOf(SshKey).extend({ privateKey: z.string() }),
  }),
  delete: call({
    path: 'ssh-key/delete',
    summary: 'Deletes one of my keys and takes it off the servers that let it in.',
    auth: ['SSH_KEY_MANAGEMENT'],
    input: z.object({ id: Id }),
    output: Done,
  }),
};
