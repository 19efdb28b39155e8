import { promisify } from 'node:util';
import type { SshKeyType } from '@stagi/contract/sshKeys.ts';
import ssh2 from 'ssh2';
import type { z } from 'zod';

type Settings = { comment: string; bits?: number };
type Pair = { private: string; public: string };
const generate = promisify<z.infer<typeof SshKeyType>, Settings, Pair>(ssh2.utils.generateKeyPair);

const RSA_BITS = 3072;

/** A key pair in OpenSSH's own formats, made off the main thread. */
export async function generateKeyPair(
  type: z.infer<typeof SshKeyType>,
  title: string,
): Promise<{ privateKey: string; publicKey: string }> {
  const settings = { comment: commentOf(title), ...(type === 'rsa' ? { bits: RSA_BITS } : {}) };
  const pair = await generate(type, settings);
  return { privateKey: pair.private.endsWith('\n') ? pair.private : `${pair.private}\n`, publicKey: pair.public };
}

/** A title may hold anything; a comment is one line of a file. */
function commentOf(title: string): string {
  return (
    title
      .replace(/[^A-Za-z0-9@._-]+/g, '-')
      .replace(/^-+|-+$/g, '')
      .slice(0, 60) || 'stagi'
  );
}
