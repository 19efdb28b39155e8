import { randomBytes, randomUUID } from 'node:crypto';
import { existsSync, linkSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Config } from '../config/config.ts';
import { ConfigError } from '../config/configError.ts';

type Place = Pick<Config, 'dataDir' | 'repositoriesDir'>;

/** The id of a data folder, which its database knows. */
export interface FolderMark {
  id: string;
  /** False between the first start's writing here and in the database, should it be killed there. */
  isJoined: boolean;
}

const FILE = 'installation.json';
/** The private key by which git's clients over SSH know the platform. */
export const HOST_KEY_FILE = 'git-ssh-host-key';
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** Null: the folder belongs to no database yet, or was used by a version before 0.2.0. */
export function readMark({ dataDir }: Pick<Config, 'dataDir'>): FolderMark | null {
  const path = join(dataDir, FILE);
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
  try {
    const { id, isJoined } = JSON.parse(text) as Partial<FolderMark>;
    if (typeof id === 'string' && UUID.test(id) && typeof isJoined === 'boolean') return { id, isJoined };
  } catch {
    // Reported below, as for any other content that is not ours.
  }
  throw new ConfigError('STAGI_DATA', `holds a file that cannot be read: ${path}. Bring it back from a backup`);
}

/** Answers the id of the folder: a new one, unless another process has just given it one. */
export function markFolder(place: Pick<Config, 'dataDir'>): string {
  const path = join(place.dataDir, FILE);
  const fresh = writeBeside(path, { id: randomUUID(), isJoined: false });
  try {
    // Unlike a rename, this fails if another process was faster.
    linkSync(fresh, path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  } finally {
    rmSync(fresh, { force: true });
  }
  return readMark(place)!.id;
}

/** Notes that a database has this id, too. */
export function joinFolder(place: Pick<Config, 'dataDir'>, id: string): void {
  const mark = readMark(place);
  if (mark?.id === id && mark.isJoined) return;
  const path = join(place.dataDir, FILE);
  renameSync(writeBeside(path, { id, isJoined: true }), path);
}

/** In the data folder from the beginning of a restore to its end: the name of the backup. */
const UNFINISHED = 'restoring';

export function markUnfinishedRestore({ dataDir }: Pick<Config, 'dataDir'>, backup: string): void {
  writeFileSync(join(dataDir, UNFINISHED), backup, { mode: 0o600, flush: true });
}

/** The backup that was not restored to its end; null: there is none. */
export function readUnfinishedRestore({ dataDir }: Pick<Config, 'dataDir'>): string | null {
  const path = join(dataDir, UNFINISHED);
  return existsSync(path) ? readFileSync(path, 'utf8') : null;
}

export function removeUnfinishedRestore({ dataDir }: Pick<Config, 'dataDir'>): void {
  rmSync(join(dataDir, UNFINISHED));
}

function writeBeside(path: string, mark: FolderMark): string {
  const beside = `${path}.${randomBytes(6).toString('hex')}`;
  writeFileSync(beside, `${JSON.stringify(mark)}\n`, { mode: 0o600, flag: 'wx', flush: true });
  return beside;
}

export const hasCluster = ({ dataDir }: Pick<Config, 'dataDir'>): boolean =>
  existsSync(join(dataDir, 'postgres/cluster'));

/** True when some platform has kept anything here that no other database knows. */
export const isUsed = (place: Place): boolean =>
  ['secret.key', HOST_KEY_FILE].some((file) => existsSync(join(place.dataDir, file))) || hasBytes(place);

/** True when objects, files or repositories lie here. */
export function hasBytes({ dataDir, repositoriesDir }: Place): boolean {
  const folders = [join(dataDir, 's3/objects'), join(dataDir, 'files/files'), repositoriesDir];
  return folders.some((folder) => existsSync(folder) && readdirSync(folder).length > 0);
}
