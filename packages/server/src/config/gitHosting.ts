import { readFileSync } from 'node:fs';
import { ConfigError } from './configError.ts';

/** Git over SSH, and imports from elsewhere. */
export interface GitHosting {
  gitSshPort: number;
  /**
   * Hosts with a private address (`git.corp.example` or `git.corp.example:8443`) that imports may reach all the same;
   * every other private address is refused.
   */
  gitImportHosts: ReadonlySet<string>;
  /** A file of certificates that imports trust in place of the system's; null: the system's. */
  gitImportCaFile: string | null;
}

type Environment = Record<string, string | undefined>;

/** From `GIT_SSH_PORT`, `GIT_IMPORT_HOSTS` and `GIT_IMPORT_CA_FILE`. */
export function readGitHosting(env: Environment, gitSshPort: number): GitHosting {
  return { gitSshPort, gitImportHosts: hosts(env.GIT_IMPORT_HOSTS), gitImportCaFile: caFile(env.GIT_IMPORT_CA_FILE) };
}

/** Each as `host:port`, as the name stands in a parsed URL. */
function hosts(text: string | undefined): ReadonlySet<string> {
  const named = (text ?? '').split(',').map((host) => host.trim());
  return new Set(
    named
      .filter((host) => host !== '')
      .map((host) => {
        const url = URL.canParse(`https://${host}/`) ? new URL(`https://${host}/`) : null;
        if (url?.pathname !== '/' || url.username || url.search || url.hash)
          throw new ConfigError('GIT_IMPORT_HOSTS', `must be hosts like git.corp.example:8443, not "${host}"`);
        return `${url.hostname}:${url.port || '443'}`;
      }),
  );
}

function caFile(path: string | undefined): string | null {
  if (!path) return null;
  try {
    readFileSync(path);
  } catch (error) {
    throw new ConfigError('GIT_IMPORT_CA_FILE', `cannot be read (${(error as Error).message})`);
  }
  return path;
}
