import { BRAND } from '@stagi/contract/brand.ts';
import { plainLine } from '@stagi/contract/plainText.ts';
import type { ServerChannel } from 'ssh2';
import type { Context } from '../context.ts';
import { NO_LFS } from './lfs.ts';
import { fingerprintOf } from './sshAuthentication.ts';

/** `git-lfs-authenticate <path> <operation> [oid]` and `git-lfs-transfer <path> <operation>`, as git-lfs sends them. */
const LFS_COMMAND = /^git-lfs-(?:authenticate|transfer) \S{1,120} (?:upload|download)(?: [0-9a-f]{64})?$/;
const MAX_NAME = 100;

/** Null: it is no command of git-lfs. The same for every path, so that it tells nothing of projects. */
export const answerToLfs = (command: string): string | null =>
  command.length <= 300 && LFS_COMMAND.test(command) ? NO_LFS : null;

/** The greeting that `ssh -T` prints: who the key logs in, and that there is no shell. One key may stand with several people. */
export async function greetingFor(
  { db, config }: Pick<Context, 'db' | 'config'>,
  key: { data: Buffer },
): Promise<string> {
  const fingerprint = fingerprintOf(key.data);
  const holders = await db
    .selectFrom('ssh_key')
    .innerJoin('app_user', 'app_user.id', 'ssh_key.user_id')
    .select(['app_user.name', 'ssh_key.title'])
    .where('ssh_key.fingerprint', '=', fingerprint)
    .where('app_user.disabled_at', 'is', null)
    .orderBy('ssh_key.user_id')
    .execute();
  const names = holders.map(({ name }) => plainLine(name ?? '', MAX_NAME)).filter((name) => name !== '');
  const [title] = holders.map((holder) => plainLine(holder.title, MAX_NAME));
  const named = holders.length === 1 && title ? `“${title}” (${fingerprint})` : fingerprint;
  const host = `${new URL(config.appOrigin).hostname}:${config.gitSshPort}`;
  return [
    `Hi${names.length > 0 ? ` ${names.join(', ')}` : ''}! You are logged in to ${BRAND} with the key ${named}.`,
    `There is no shell here: this port is for git, as in git clone ssh://git@${host}/{workspace}/{project}.git`,
  ].join('\n');
}

/** Ends a command with words, as GitHub ends a greeting: with 1. */
export function endWith(channel: ServerChannel, message: string): void {
  channel.stderr.write(`${message}\n`);
  channel.exit(1);
  channel.end();
}
