import type { Service } from './gitService.ts';

export interface GitCommand {
  service: Service;
  clientId: number;
  slug: string;
}

/** The longest is a service with the largest id and a slug of 40 characters. */
const MAX_LENGTH = 120;
/** `git-upload-pack '/1/slug.git'` as git sends it, and `git upload-pack …` as its own tools do. */
const COMMAND =
  /^git[- ](upload|receive)-pack ('?)\/?([1-9][0-9]{0,9})\/([a-z0-9](?:-?[a-z0-9]){2,39})(?:\.git)?\/?\2$/;
const ID_MAX = 2 ** 31 - 1;

/** The one kind of command that is run over SSH: a git service with one repository. Null: anything else. */
export function parseGitCommand(command: string): GitCommand | null {
  if (command.length > MAX_LENGTH) return null;
  const [, kind, , clientId, slug] = COMMAND.exec(command) ?? [];
  if (!kind || !slug || Number(clientId) > ID_MAX || slug.length > 40) return null;
  return { service: kind === 'upload' ? 'git-upload-pack' : 'git-receive-pack', clientId: Number(clientId), slug };
}
