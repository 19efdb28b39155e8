import type { StorageObject } from '@stagi/contract/storages.ts';
import type { ObjectSource } from '../objects/objectSource.ts';
import { createLimit } from './limit.ts';

const LISTED_AT_ONCE = 1_000;
const CALLS_AT_ONCE = 4;

/** What is looked for in one folder. */
interface Wanted {
  names: Set<string>;
  folders: Map<string, Wanted>;
}

/**
 * Which of these paths below a folder hold something by now, by their keys. Each folder is listed once, and only where
 * there is one.
 */
export async function storedAmong(
  { list }: Pick<ObjectSource, 'list'>,
  top: string,
  paths: readonly string[],
  signal: AbortSignal,
): Promise<Map<string, StorageObject>> {
  const found = new Map<string, StorageObject>();
  const atOnce = createLimit(CALLS_AT_ONCE);
  await lookIn(top, treeOf(paths));
  return found;

  async function lookIn(folder: string, { names, folders }: Wanted): Promise<void> {
    const prefix = folder + commonStart([...names, ...folders.keys()]);
    const there: [string, Wanted][] = [];
    for (let after: string | undefined, isMore = true; isMore; ) {
      const page = await atOnce(() => list({ prefix, after, limit: LISTED_AT_ONCE }, signal));
      for (const object of page.objects) if (names.has(object.key.slice(folder.length))) found.set(object.key, object);
      for (const key of page.folders) {
        const wanted = folders.get(key.slice(folder.length, -1));
        if (wanted) there.push([key, wanted]);
      }
      after = page.next ?? undefined;
      isMore = page.next !== null;
    }
    await Promise.all(there.map(([key, wanted]) => lookIn(key, wanted)));
  }
}

function treeOf(paths: readonly string[]): Wanted {
  const top: Wanted = { names: new Set(), folders: new Map() };
  for (const path of paths) {
    const parts = path.split('/');
    let folder = top;
    for (const part of parts.slice(0, -1)) {
      const next = folder.folders.get(part) ?? { names: new Set(), folders: new Map() };
      folder.folders.set(part, next);
      folder = next;
    }
    folder.names.add(parts.at(-1) ?? '');
  }
  return top;
}

/** What all of them begin with, in whole characters. */
function commonStart(names: readonly string[]): string {
  const [first = '', ...rest] = names;
  let length = first.length;
  for (const name of rest) while (!name.startsWith(first.slice(0, length))) length -= 1;
  const start = first.slice(0, length);
  return start.isWellFormed() ? start : start.slice(0, -1);
}
