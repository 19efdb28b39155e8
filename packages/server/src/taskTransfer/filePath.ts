import { MAX_OBJECT_KEY_BYTES } from '@stagi/contract/storageRules.ts';
import { text } from '@stagi/contract/text.ts';
import { PublicError } from '../http/errors.ts';

/** What Linux allows in one name. */
const MAX_NAME_BYTES = 255;

/** Whether a path below a directory can be that of a file on Linux, and none but below this directory. */
export const isFilePath = (path: string): boolean => !path.includes('\0') && path.split('/').every(isFileName);

const isFileName = (name: string): boolean =>
  name !== '' && name !== '.' && name !== '..' && Buffer.byteLength(name) <= MAX_NAME_BYTES;

/** The object of an output file. Throws 422 for a path that no file of the output directory has. */
export function outputKey(prefix: string, path: string): string {
  if (!path.isWellFormed() || !isFilePath(path))
    throw new PublicError(422, text('This cannot be the path of an output file: {{path}}'), { values: { path } });
  const key = prefix + path;
  if (Buffer.byteLength(key) > MAX_OBJECT_KEY_BYTES)
    throw new PublicError(422, text('The path of this output file is too long for its storage: {{path}}'), {
      values: { path },
    });
  return key;
}
