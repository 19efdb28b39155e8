import type { Config } from '../config/config.ts';
import type { ProjectRow } from '../db/schema.ts';

type Named = Pick<ProjectRow, 'workspace_id' | 'slug'>;

/** The port of git over SSH. */
const SSH_PORT = 4422;

/** Where people clone a project by HTTP, with an API token as password. */
export function httpsAddress({ appOrigin }: Pick<Config, 'appOrigin'>, { workspace_id, slug }: Named): string {
  return `${appOrigin}/git/${workspace_id}/${slug}.git`;
}

/** Where people clone it by SSH, with one of their keys. */
export function sshAddress({ appOrigin }: Pick<Config, 'appOrigin'>, { workspace_id, slug }: Named): string | null {
  return `ssh://git@${new URL(appOrigin).hostname}:${SSH_PORT}/${workspace_id}/${slug}.git`;
}
