import { randomBytes } from 'node:crypto';
import { link, open, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import ssh2 from 'ssh2';
import type { Config } from '../config/config.ts';
import { ConfigError } from '../config/configError.ts';
import { HOST_KEY_FILE } from '../installation/dataFolder.ts';

/** The key by which clients know this platform: made once, kept in the data folder, readable to its owner alone. */
export async function loadHostKey({ dataDir }: Pick<Config, 'dataDir'>): Promise<string> {
  const path = join(dataDir, HOST_KEY_FILE);
  const known = await read(path);
  if (known !== null) return checked(known, path);
  const fresh = `${path}.${randomBytes(6).toString('hex')}`;
  try {
    const file = await open(fresh, 'wx', 0o600);
    try {
      await file.writeFile(newPrivateKey());
      await file.sync();
    } finally {
      await file.close();
    }
    // Unlike a rename, this fails if another process was faster.
    await link(fresh, path).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'EEXIST') throw error;
    });
  } finally {
    await rm(fresh, { force: true });
  }
  return checked(await readFile(path, 'utf8'), path);
}

/** A private key of ed25519. The library writes about one of 170 keys in a form that it cannot read. */
export function newPrivateKey(): string {
  for (;;) {
    const key = ssh2.utils.generateKeyPairSync('ed25519').private;
    if (!(ssh2.utils.parseKey(key) instanceof Error)) return key;
  }
}

async function read(path: string): Promise<string | null> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}

function checked(key: string, path: string): string {
  const parsed = ssh2.utils.parseKey(key);
  if (parsed instanceof Error || !parsed.isPrivateKey())
    throw new ConfigError('STAGI_DATA', `holds a host key for git that cannot be read: ${path}`);
  return key;
}
