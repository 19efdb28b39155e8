import { api } from '@stagi/contract/api.ts';
import { CallError } from '@stagi/contract/errors.ts';
import type { StorageObject } from '@stagi/contract/storages.ts';
import type { VolumeEntry } from '@stagi/contract/volumeFiles.ts';
import { call } from '../../../api/client.ts';
import { parentOf } from '../../../objects/objectNames.ts';
import type { ObjectSource } from '../../../objects/objectSource.ts';

/** A volume of a container. */
export interface VolumeRef {
  id: number;
  /** Its directory inside the container. */
  volume: string;
}

/** The path of a folder without the slash at its end. */
export const pathOf = (key: string): string => key.replace(/\/$/, '');

/** The files of a volume: keys are paths, those of folders end in `/`. */
export function volumeObjects(of: VolumeRef, downloadRefusal: string | null): ObjectSource {
  return {
    path: api.volumeFiles.list.path,
    id: of.id,
    part: of.volume,
    isReadable: true,
    async list({ prefix, after, limit }, signal) {
      const folder = parentOf(prefix.endsWith('/') ? `${prefix}x` : prefix);
      const input = { ...of, path: pathOf(folder), prefix: prefix.slice(folder.length), after, limit };
      const { entries, next } = await call(api.volumeFiles.list, input, { quiet: true, signal });
      return {
        folders: entries.filter(isFolder).map(({ name }) => `${folder}${name}/`),
        objects: entries.filter((entry) => !isFolder(entry)).map((entry) => objectOf(folder, entry)),
        next,
      };
    },
    async view(key, signal) {
      try {
        const { entry } = await call(api.volumeFiles.view, { ...of, path: key }, { quiet: true, signal });
        return objectOf(parentOf(key), entry);
      } catch (error) {
        if (error instanceof CallError && error.status === 404) return null;
        throw error;
      }
    },
    link: async (key, { inline }, signal) =>
      (await call(api.volumeFiles.download, { ...of, path: pathOf(key) }, { quiet: inline, signal })).link,
    previewLink: async (key, signal) =>
      (await call(api.volumeFiles.previewLink, { ...of, path: key }, { quiet: true, signal })).link,
    async readText(key, maxBytes, signal) {
      const { content } = await call(api.volumeFiles.read, { ...of, path: key, maxBytes }, { quiet: true, signal });
      return content.kind === 'text' ? content : null;
    },
    folderLink: async (folder) => (await call(api.volumeFiles.download, { ...of, path: pathOf(folder) })).link,
    downloadRefusal,
  };
}

/** A folder whose name cannot be written in a call is shown among the files: it cannot be entered. */
const isFolder = ({ kind, isEscaped }: VolumeEntry): boolean => kind === 'folder' && !isEscaped;

function objectOf(folder: string, entry: VolumeEntry): StorageObject {
  const { name, sizeBytes, modifiedAt, etag, isEscaped } = entry;
  const contentType = isEscaped ? ESCAPED_TYPE : entry.contentType;
  return { key: folder + name, sizeBytes, modifiedAt, etag, contentType };
}

/** Of names that are no UTF-8: nothing can be done to such an entry by its name. */
const ESCAPED_TYPE = 'inode/unnamed';
export const isUnnamed = ({ contentType }: StorageObject): boolean => contentType === ESCAPED_TYPE;
