import { z } from 'zod';
import { call } from './call.ts';
import { Id, SuccessResponse } from './page.ts';
import { Link } from './storages.ts';
import { text } from './text.ts';
import { FileKind, FilePath, FolderPath, MAX_LISTED_ENTRIES } from './volumePaths.ts';

/** A file is shown and edited as text up to this size. */
export const MAX_EDITED_BYTES = 1024 * 1024;
/** JSON may write one byte of a text as six characters. */
const EDIT_BODY_BYTES = 6 * MAX_EDITED_BYTES + 64 * 1024;
/** The largest file that is uploaded. */
export const MAX_UPLOADED_BYTES = 5 * 1024 ** 4;

/** One volume of a container, named by its directory inside the container. */
const OfVolume = { id: Id, volume: z.string().min(1).max(400) };

export const VolumeEntry = z.object({
  name: z.string(),
  /** Links and devices (`other`) are listed, renamed and removed, never opened. */
  kind: FileKind,
  sizeBytes: z.number(),
  modifiedAt: z.string(),
  etag: z.string(),
  /** By the name. */
  contentType: z.string(),
  /** The name is no UTF-8: it is shown with `\x..`, and no call can name the entry. */
  isEscaped: z.boolean(),
});
export type VolumeEntry = z.infer<typeof VolumeEntry>;

/** What a file holds, or why that is not shown. */
export const FileContent = z.discriminatedUnion('kind', [
  /** `isCut`: the file is larger than what was read. */
  z.object({ kind: z.literal('text'), text: z.string(), isCut: z.boolean() }),
  z.object({ kind: z.literal('binary') }),
]);
export type FileContent = z.infer<typeof FileContent>;

/** The answer of `PUT` to the link of an upload. */
export const UploadAnswer = z.object({
  isSuccess: z.literal(true),
  /** The file is there under its name. */
  isDone: z.boolean(),
  /** So much of it is kept: the next `PUT` goes on from here (`?at=`). */
  offset: z.number(),
});
export type UploadAnswer = z.infer<typeof UploadAnswer>;

/** `PUT {origin}{UPLOAD_PATH}{ticket}?at=0`, the body is the file from this byte on, whole or in parts one by one. */
export const UPLOAD_PATH = '/frontend-api/docker-container/file/upload/';

const READ = ['INSTANCE_RENTED_MANAGEMENT', 'SELFHOSTED_INSTANCE_MANAGEMENT', 'PROJECT_MANAGEMENT'] as const;
const MANAGE = ['INSTANCE_RENTED_MANAGEMENT', 'SELFHOSTED_INSTANCE_MANAGEMENT'] as const;

/** Files of the volumes of containers, read and changed by the daemon of their server. */
export const volumeFiles = {
  list: call({
    path: 'docker-container/file/list',
    summary: 'One folder of a volume of a container: folders first, then by name.',
    auth: READ,
    byToken: true,
    input: z.object({
      ...OfVolume,
      path: FolderPath.default(''),
      /** What names begin with. */
      prefix: z.string().max(255).default(''),
      /** `next` of the page before. */
      after: z.string().max(400).optional(),
      /** A page may have fewer entries although `next` tells of more. */
      limit: z.number().int().min(1).max(MAX_LISTED_ENTRIES).default(1000),
    }),
    output: z.object({ isSuccess: z.literal(true), entries: z.array(VolumeEntry), next: z.string().nullable() }),
  }),
  view: call({
    path: 'docker-container/file/view',
    summary: 'One file or folder of a volume.',
    auth: READ,
    byToken: true,
    input: z.object({ ...OfVolume, path: FilePath }),
    output: z.object({ isSuccess: z.literal(true), entry: VolumeEntry }),
  }),
  read: call({
    path: 'docker-container/file/read',
    summary: 'The beginning of a file of a volume as text, at most 1 MiB of it.',
    auth: READ,
    byToken: true,
    input: z.object({
      ...OfVolume,
      path: FilePath,
      maxBytes: z.number().int().min(1).max(MAX_EDITED_BYTES).default(MAX_EDITED_BYTES),
    }),
    output: z.object({ isSuccess: z.literal(true), entry: VolumeEntry, content: FileContent }),
  }),
  write: call({
    path: 'docker-container/file/write',
    summary: 'Writes a text file of at most 1 MiB, in one step. With an etag: only if the file has not changed since.',
    auth: MANAGE,
    byToken: true,
    bodyLimit: EDIT_BODY_BYTES,
    input: z.object({
      ...OfVolume,
      path: FilePath,
      text: z
        .string()
        .refine((written) => written.isWellFormed(), text('The text contains characters that cannot be stored'))
        .refine(
          (written) => new TextEncoder().encode(written).length <= MAX_EDITED_BYTES,
          text('The text is too long: at most 1 MiB'),
        ),
      /** Of the file that was read; null: there must be no file of this name. */
      etag: z.string().max(100).nullable(),
    }),
    output: z.object({ isSuccess: z.literal(true), entry: VolumeEntry }),
  }),
  mkdir: call({
    path: 'docker-container/file/mkdir',
    summary: 'Makes a folder in a volume.',
    auth: MANAGE,
    byToken: true,
    input: z.object({ ...OfVolume, path: FilePath }),
    output: SuccessResponse,
  }),
  rename: call({
    path: 'docker-container/file/rename',
    summary: 'Gives a file or folder another name, or moves it within its volume; replaces nothing.',
    auth: MANAGE,
    byToken: true,
    input: z.object({ ...OfVolume, path: FilePath, newPath: FilePath }),
    output: SuccessResponse,
  }),
  delete: call({
    path: 'docker-container/file/delete',
    summary: 'Deletes a file, or a folder with all that is in it. While `isMore`, call again to go on.',
    auth: MANAGE,
    byToken: true,
    input: z.object({ ...OfVolume, path: FilePath }),
    output: z.object({ isSuccess: z.literal(true), deleted: z.number().int(), isMore: z.boolean() }),
  }),
  upload: call({
    path: 'docker-container/file/upload',
    summary: 'Where to PUT a file of a volume, whole or in parts. With `uploadId`: where to go on.',
    auth: MANAGE,
    byToken: true,
    input: z.object({
      ...OfVolume,
      path: FilePath,
      sizeBytes: z.number().int().min(0).max(MAX_UPLOADED_BYTES),
      /** Whether a file of this name is replaced. */
      replace: z.boolean().default(false),
      uploadId: z.uuid().optional(),
    }),
    output: Link.extend({ uploadId: z.uuid(), offset: z.number() }),
  }),
  discardUpload: call({
    path: 'docker-container/file/discard-upload',
    summary: 'Gives up an upload and frees what is stored of it.',
    auth: MANAGE,
    byToken: true,
    input: z.object({ ...OfVolume, path: FilePath, uploadId: z.uuid() }),
    output: SuccessResponse,
  }),
  download: call({
    path: 'docker-container/file/download',
    summary: 'A URL on the content host that downloads a file, or a folder as a ZIP file.',
    auth: MANAGE,
    byToken: true,
    input: z.object({ ...OfVolume, path: FolderPath }),
    output: Link,
  }),
  previewLink: call({
    path: 'docker-container/file/preview-link',
    summary: 'A URL on the content host that shows a picture, sound or video of a volume.',
    auth: READ,
    byToken: true,
    input: z.object({ ...OfVolume, path: FilePath }),
    output: Link,
  }),
};
