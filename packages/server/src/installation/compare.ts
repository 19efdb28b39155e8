import type { Config } from '../config/config.ts';
import { ConfigError } from '../config/configError.ts';
import { isLoopback } from '../config/loopback.ts';
import type { FolderMark } from './dataFolder.ts';
import type { Installation } from './row.ts';

type Settings = Pick<
  Config,
  'dataDir' | 'environment' | 'hasNamedEnvironment' | 'appOrigin' | 'originIsLoopback' | 'daemonOrigin'
>;

/** Throws `ConfigError` when the database belongs to another data folder, key, environment or origin than configured. */
export function requireSame(
  stored: Installation,
  { mark, keyId, settings }: { mark: FolderMark | null; keyId: string | null; settings: Settings },
): void {
  requireOwnFolder(stored, mark, settings);
  requireKey(stored, keyId);
  if (settings.hasNamedEnvironment && settings.environment !== stored.environment)
    throw new ConfigError(
      'STAGI_ENVIRONMENT',
      `is ${settings.environment}, and the machines of this platform are marked ${stored.environment}. ` +
        `Leave it out, or change the mark: npm run operator -- move --environment ${settings.environment}`,
    );
  requireOrigins(stored, settings);
}

function requireOwnFolder(stored: Installation, mark: FolderMark | null, { dataDir }: Settings): void {
  if (mark?.id === stored.dataFolder) return;
  const found = mark ? 'belongs to another database' : 'belongs to no database';
  throw new ConfigError(
    'STAGI_DATA',
    `(${dataDir}) ${found}, and the database to another data folder: check STAGI_DATA and DATABASE_URL. ` +
      'Where this folder is to be the one from now on: npm run operator -- move --data',
  );
}

function requireKey(stored: Installation, keyId: string | null): void {
  if (keyId === stored.keyId) return;
  throw new ConfigError(
    'STAGI_SECRET_KEY',
    keyId
      ? `is key ${keyId}, and the secrets in the database are sealed with key ${stored.keyId}: set it to that one, ` +
          'or put the secret.key of this database into the data folder'
      : `is missing, and so is secret.key in the data folder: the secrets in the database are sealed with key ${stored.keyId}`,
  );
}

function requireOrigins(stored: Installation, { appOrigin, originIsLoopback, daemonOrigin }: Settings): void {
  if (originIsLoopback && isLoopback(new URL(stored.appOrigin).hostname)) return;
  if (appOrigin !== stored.appOrigin)
    throw new ConfigError(
      'APP_ORIGIN',
      `is ${appOrigin}, and this platform is at ${stored.appOrigin}. ` +
        `If it has moved: npm run operator -- move --origin ${appOrigin}`,
    );
  // One that was not named before gives the machines a better address than the guess of before.
  if (stored.daemonOrigin === null || daemonOrigin === stored.daemonOrigin) return;
  throw new ConfigError(
    'DAEMON_ORIGIN',
    `is ${daemonOrigin ?? 'missing'}, and machines reach this platform at ${stored.daemonOrigin}. ` +
      `If it has moved: npm run operator -- move --daemon-origin ${daemonOrigin ?? 'none'}`,
  );
}
