import type { Readable } from 'node:stream';
import { text as readText } from 'node:stream/consumers';
import { extract } from 'tar-stream';
import type { Engine } from './docker.ts';
import type { FolderOwner } from './volumes/hostFolder.ts';

const TIMEOUT_MS = 30_000;
/** Anybody makes the image: what is larger is no list of users. */
const MAX_BYTES = 1024 * 1024;

/**
 * Ids of the user that a container's program runs as, by `/etc/passwd` and `/etc/group` of its image, as Docker finds
 * them (`GetExecUser` of moby/sys). Null: root, or a name that the image does not know.
 */
export async function userOf(
  engine: Pick<Engine, 'configuredUser' | 'pathAt' | 'readArchive'>,
  dockerId: string,
): Promise<FolderOwner | null> {
  const [user = '', group] = (await engine.configuredUser(dockerId)).split(':');
  if (user === '') return null;
  const passwd = await rowsOf(engine, dockerId, '/etc/passwd');
  const [, , id = user, ownGroup = '0'] = passwd.find(([name, , uid]) => name === user || uid === user) ?? [];
  const groups = group && !isNumber(group) ? await rowsOf(engine, dockerId, '/etc/group') : [];
  const groupId = group ? (groups.find(([name]) => name === group)?.[2] ?? group) : ownGroup;
  return isNumber(id) && isNumber(groupId) ? { uid: Number(id), gid: Number(groupId) } : null;
}

const isNumber = (part: string): boolean => /^\d{1,10}$/.test(part);

async function rowsOf(
  engine: Pick<Engine, 'pathAt' | 'readArchive'>,
  dockerId: string,
  file: string,
): Promise<string[][]> {
  // Some images keep it elsewhere, behind a link.
  const { path } = await engine.pathAt(dockerId, file);
  let found = '';
  await engine.readArchive(
    dockerId,
    path,
    async (tar) => {
      found = await firstFile(tar);
    },
    AbortSignal.timeout(TIMEOUT_MS),
  );
  return found.split('\n').map((line) => line.split(':'));
}

async function firstFile(tar: Readable): Promise<string> {
  const entries = tar.pipe(extract());
  // A pipe passes no errors on.
  tar.once('error', (error) => entries.destroy(error));
  for await (const entry of entries) {
    if (entry.header.type !== 'file' || (entry.header.size ?? 0) > MAX_BYTES) return '';
    return await readText(entry);
  }
  return '';
}
