import type { Config } from '../config/config.ts';
import type { ProjectRow } from '../db/schema.ts';

type Named = Pick<ProjectRow, 'workspace_id' | 'slug'>;

/** Where people clone a project by HTTP, with an API token as password. */
export function httpsAddress({ appOrigin }: Pick<Config, 'appOrigin'>, { workspace_id, slug }: Named): string {
  return `${appOrigin}/git/${workspace_id}/${slug}.git`;
}

/** Where people clone it by SSH, with one of their keys. */
export function sshAddress(
  { appOrigin, gitSshPort }: Pick<Config, 'appOrigin' | 'gitSshPort'>,
  { workspace_id, slug }: Named,
): string {
  return `ssh://git@${new URL(appOrigin).hostname}:${gitSshPort}/${workspace_id}/${slug}.git`;
}
