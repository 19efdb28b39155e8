/** A file and where it stands below the folder it is uploaded to: `photos/2024/a.jpg`. */
export interface PickedFile {
  path: string;
  file: File;
}

/** From an input; `webkitRelativePath` is set where a folder was chosen. Names are never normalised. */
export const pickedFiles = (files: Iterable<File>): PickedFile[] =>
  [...files].map((file) => ({ path: file.webkitRelativePath || file.name, file }));

interface Dropped {
  files: PickedFile[];
  /** Paths that the browser could not read. */
  unreadable: string[];
}

type Entry = Pick<FileSystemEntry, 'isFile' | 'isDirectory' | 'name'>;

/** All files that were dropped, those in folders too. Call it in the event: what was dropped is gone afterwards. */
export function droppedFiles({ items, files }: DataTransfer): Promise<Dropped> {
  const entries = [...items].filter(({ kind }) => kind === 'file').map((item) => item.webkitGetAsEntry());
  const known = entries.filter((entry) => entry !== null);
  return known.length > 0 ? filesBelow(known) : Promise.resolve({ files: pickedFiles(files), unreadable: [] });
}

/** Walks folders without recursion: trees may be deep. */
export async function filesBelow(top: readonly Entry[]): Promise<Dropped> {
  const found: Dropped = { files: [], unreadable: [] };
  const open = top.map((entry) => ({ entry, path: entry.name })).toReversed();
  for (let next = open.pop(); next; next = open.pop()) {
    const { entry, path } = next;
    try {
      if (entry.isFile) found.files.push({ path, file: await fileOf(entry as FileSystemFileEntry) });
      else {
        const inside = await entriesOf(entry as FileSystemDirectoryEntry);
        open.push(...inside.map((one) => ({ entry: one, path: `${path}/${one.name}` })).toReversed());
      }
    } catch (cause) {
      console.warn(`${path} cannot be read`, cause);
      found.unreadable.push(path);
    }
  }
  return found;
}

const fileOf = (entry: FileSystemFileEntry): Promise<File> =>
  new Promise((resolve, reject) => entry.file(resolve, reject));

/** A reader gives a hundred or so at a time, and none when it has given all. */
async function entriesOf(entry: FileSystemDirectoryEntry): Promise<FileSystemEntry[]> {
  const reader = entry.createReader();
  const all: FileSystemEntry[] = [];
  for (;;) {
    const some = await new Promise<FileSystemEntry[]>((resolve, reject) => reader.readEntries(resolve, reject));
    if (some.length === 0) return all;
    all.push(...some);
  }
}
