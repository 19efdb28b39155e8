import { z } from 'zod';
import { call } from './call.ts';
import { Title } from './fields.ts';
import { Id, ListInput, listOf, oneOf, SuccessResponse } from './page.ts';
import { text } from './text.ts';

export const SshKeyType = z.enum(['ed25519', 'rsa'], text('Please choose an option'));

/** The name that the private half of a key generated here is saved under. The id keeps two of them apart in one folder. */
export function keyFileName({ id, type }: { id: number; type: string }): string {
  return `stagi-${type.includes('rsa') ? 'rsa' : 'ed25519'}-${id}`;
}

export const SshKey = z.object({
  id: Id,
  title: z.string(),
  /** `ssh-ed25519`, `ssh-rsa`, … */
  type: z.string(),
  publicKey: z.string(),
  /** `SHA256:…` */
  fingerprint: z.string(),
  /** The file that the private half of a key generated here was downloaded as; null for a key that was added. */
  fileName: z.string().nullable(),
  createdAt: z.string(),
  /** Running servers on which this key is authorized. */
  instanceCount: z.number().int(),
});
export type SshKey = z.infer<typeof SshKey>;

export const sshKeys = {
  list: call({
    path: 'ssh-key/list',
    summary: 'My SSH keys.',
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
      publicKey: z
        .string(text('SSH key is required'))
        .trim()
        .min(1, text('SSH key is required'))
        .max(16_384, text('Invalid SSH key')),
    }),
    output: oneOf(SshKey),
  }),
  generate: call({
    path: 'ssh-key/generate',
    summary: 'Generates a key pair; only this answer contains the private key.',
    auth: ['SSH_KEY_MANAGEMENT'],
    input: z.object({ title: Title, type: SshKeyType.default('ed25519') }),
    output: oneOf(SshKey).extend({ privateKey: z.string() }),
  }),
  delete: call({
    path: 'ssh-key/delete',
    summary: 'Deletes one of my keys and removes it from all servers.',
    auth: ['SSH_KEY_MANAGEMENT'],
    input: z.object({ id: Id }),
    output: SuccessResponse,
  }),
};
