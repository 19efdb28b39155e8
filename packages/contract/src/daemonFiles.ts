import { z } from 'zod';
import { FileKind, FilePath, FolderPath, MAX_LISTED_ENTRIES } from './volumePaths.ts';

/** The feature of a daemon that serves files of volumes. */
export const FILES_FEATURE = 'files';

/**
 * What an upload may replace: nothing, whatever file there is, or the file that had this etag when it was read. It is
 * looked at before the first byte and again before the file gets its name.
 */
export const Replaces = z.union([
  z.object({ nothing: z.literal(true) }),
  z.object({ any: z.literal(true) }),
  z.object({ etag: z.string().max(100) }),
]);
export type Replaces = z.infer<typeof Replaces>;

const Upload = z.uuid();

/**
 * What is done to files of a volume. `list`, `stat`, `partial`, `mkdir`, `rename`, `remove` and `discard` answer with
 * JSON. `read` answers with a head (`readHead`) and the bytes, `archive` with a ZIP file. `write` takes bytes and answers
 * with JSON once they have ended.
 */
export const FileOperation = z.discriminatedUnion('do', [
  z.object({
    do: z.literal('list'),
    path: FolderPath,
    /** What names begin with. */
    prefix: z.string().max(255),
    /** `next` of the page before. */
    after: z.string().max(400).nullable(),
    limit: z.number().int().min(1).max(MAX_LISTED_ENTRIES),
  }),
  z.object({ do: z.literal('stat'), path: FolderPath }),
  z.object({
    do: z.literal('read'),
    path: FilePath,
    from: z.number().int().min(0),
    /** Null: to the end. */
    length: z.number().int().min(0).nullable(),
    /** Refused when the file is another one by now. */
    etag: z.string().max(100).nullable(),
  }),
  z.object({
    do: z.literal('write'),
    path: FilePath,
    /** The first byte that is sent; the bytes before it were sent by earlier streams of the same upload. */
    at: z.number().int().min(0),
    total: z.number().int().min(0),
    upload: Upload,
    replaces: Replaces,
  }),
  /** How much of an upload is there. */
  z.object({ do: z.literal('partial'), path: FilePath, upload: Upload }),
  z.object({ do: z.literal('discard'), path: FilePath, upload: Upload }),
  z.object({ do: z.literal('mkdir'), path: FilePath }),
  z.object({ do: z.literal('rename'), path: FilePath, to: FilePath }),
  z.object({ do: z.literal('remove'), path: FilePath }),
  z.object({ do: z.literal('archive'), path: FolderPath }),
]);
export type FileOperation = z.infer<typeof FileOperation>;

export const FileFacts = z.object({
  kind: FileKind,
  sizeBytes: z.number().int().min(0),
  modifiedAt: z.iso.datetime(),
  /** Changes with the content. */
  etag: z.string().regex(/^[\w-]{1,100}$/),
});
export type FileFacts = z.infer<typeof FileFacts>;

export const ListedFile = FileFacts.extend({
  name: z.string(),
  /** The name is no UTF-8: it is shown with `\x..`, and nothing can be done to the entry by its name. */
  isEscaped: z.boolean(),
});
export type ListedFile = z.infer<typeof ListedFile>;

/** Folders first, then by the bytes of the names. */
export const FileListing = z.object({ entries: z.array(ListedFile), next: z.string().nullable() });
export const PartialUpload = z.object({ sizeBytes: z.number().int().min(0) });
/** `isMore`: the time was over before all was removed. */
export const Removed = z.object({ removed: z.number().int(), isMore: z.boolean() });
export const Done = z.object({});

export const Written = z.discriminatedUnion('state', [
  z.object({ state: z.literal('done'), facts: FileFacts }),
  /** More is to come: so many bytes are kept. */
  z.object({ state: z.literal('partial'), sizeBytes: z.number().int().min(0) }),
  z.object({ state: z.literal('refused'), status: z.number().int(), reason: z.string() }),
]);
export type Written = z.infer<typeof Written>;

/** The JSON that comes before the bytes of a `read`, with its length in front of it (uint32, big-endian). */
export const ReadHead = FileFacts.extend({ from: z.number().int().min(0), length: z.number().int().min(0) });
export type ReadHead = z.infer<typeof ReadHead>;
