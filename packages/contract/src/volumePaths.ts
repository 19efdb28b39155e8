import { z } from 'zod';
import { text } from './text.ts';

/** Limits of paths inside a volume; those of a name are the system's own. */
export const MAX_FILE_NAME_BYTES = 255;
export const MAX_FILE_PATH_BYTES = 4096;
export const MAX_FOLDER_DEPTH = 100;

/** Entries of one page of a listing. */
export const MAX_LISTED_ENTRIES = 10_000;

/** `link` and `other` (a device, a socket, a named pipe) are listed, renamed and removed, never opened. */
export const FileKind = z.enum(['folder', 'file', 'link', 'other']);
export type FileKind = z.infer<typeof FileKind>;

/** What an unfinished upload is called, beside the file that it becomes. */
export const UPLOAD_PREFIX = '.stagi-upload-';

const encoder = new TextEncoder();
const bytesOf = (name: string): number => encoder.encode(name).length;

/** Why a name cannot be that of a file or folder; null: it can. */
export function refusedFileName(name: string): string | null {
  if (name === '') return text('Name is required');
  if (name === '.' || name === '..') return text('“.” and “..” are no names');
  if (name.includes('/')) return text('Name must not contain "/"');
  if (name.includes('\0') || !name.isWellFormed()) return text('Name contains characters that cannot be stored');
  if (bytesOf(name) > MAX_FILE_NAME_BYTES) return text('Name is too long: at most 255 bytes');
  return name.startsWith(UPLOAD_PREFIX) ? text('Names with this beginning are used for unfinished uploads') : null;
}

function refusedPath(path: string): string | null {
  if (bytesOf(path) > MAX_FILE_PATH_BYTES) return text('The path is too long: at most 4,096 bytes');
  const names = path === '' ? [] : path.split('/');
  if (names.length > MAX_FOLDER_DEPTH) return text('Folders are nested too deep: at most 100');
  for (const name of names) {
    const refusal = refusedFileName(name);
    if (refusal) return refusal;
  }
  return null;
}

const checked = (path: string, context: z.RefinementCtx): void => {
  const message = refusedPath(path);
  if (message) context.addIssue({ code: 'custom', message });
};

/** Names joined by `/`, from the top of the volume; empty: the top itself. Never trimmed. */
export const FolderPath = z.string().superRefine(checked);
/** Of a file or folder below the top. */
export const FilePath = z.string().min(1, text('Name is required')).superRefine(checked);
