import { z } from 'zod';
import { call } from './call.ts';
import { Slug, Title } from './fields.ts';
import { EditVersion, Id, ListInput, listOf, oneOf, Ref, SuccessResponse } from './page.ts';
import { Price } from './price.ts';
import { LOG_BUCKET_PREFIX, MAX_OBJECT_KEY_BYTES, StorageKind, StorageStatus } from './storageRules.ts';
import { text } from './text.ts';

export const StorageSize = z
  .number(text('Size is required'))
  .int(text('Size must be a whole number of GB'))
  .min(1, text('Size must be between 1 and 10,000 GB'))
  .max(10_000, text('Size must be between 1 and 10,000 GB'));

/** The storage's slug is also the name of its bucket, so it is unique on the platform. */
export const StorageSlug = Slug.refine(
  (slug) => !slug.startsWith(LOG_BUCKET_PREFIX),
  text('A Unique ID that begins with "log-" is reserved for log buckets'),
);

export const Storage = z.object({
  id: Id,
  kind: StorageKind,
  slug: z.string(),
  title: z.string(),
  status: StorageStatus,
  /** When this status began, and the deadline of a transition. */
  statusSince: z.string(),
  statusDeadline: z.string().nullable(),
  statusReason: z.string().nullable(),
  createdAt: z.string(),
  /** Null for a log bucket. */
  createdBy: z.string().nullable(),
  bucket: z.string(),
  /** Where people and browsers reach the S3 service: `http://localhost:4401`. */
  endpoint: z.string(),
  /** The same service for programs on rented servers. */
  machineEndpoint: z.string(),
  /** Of the S3 protocol, for tools that ask for one. */
  region: z.string(),
  location: z.string(),
  locationTitle: z.string(),
  sizeGb: z.number().int(),
  usedBytes: z.number(),
  objectCount: z.number().int(),
  /** Of the chosen size; zero for a log bucket. */
  pricePerMonth: Price,
  pricePerHour: Price,
  /** Whether nothing can be written now, as the balance is zero. */
  readOnly: z.boolean(),
  /** When its data is deleted: 14 days after the balance ran out, or 30 days after the server of a log bucket ended. */
  deletedAt: z.string().nullable(),
  /** Unfinished tasks that use it: they are canceled when it is deleted. */
  taskCount: z.number().int(),
  /** The server of a log bucket. */
  instance: z.object({ id: Id, slug: z.string(), title: z.string(), isClosed: z.boolean() }).nullable(),
  /** Changes with each edit: see `EditVersion`. */
  version: z.string().optional(),
});
export type Storage = z.infer<typeof Storage>;

export const StorageKeyMode = z.enum(['read-only', 'read-write'], text('Please choose an option'));
export type StorageKeyMode = z.infer<typeof StorageKeyMode>;

/** An access key of one storage, without its secret. */
export const StorageKey = z.object({
  id: Id,
  title: z.string(),
  accessKeyId: z.string(),
  mode: StorageKeyMode,
  /** Only objects whose keys begin with it; empty: all. */
  prefix: z.string(),
  createdAt: z.string(),
  /** Null when the maker's account is deleted. */
  createdBy: z.string().nullable(),
  /** At the minute. */
  lastUsedAt: z.string().nullable(),
  /** When it stops working: the end of the overlap of a rotated key. */
  expiresAt: z.string().nullable(),
  /** The key that replaced it. */
  replacedBy: z.string().nullable(),
});
export type StorageKey = z.infer<typeof StorageKey>;

/** Only the answer that makes a key contains its secret. */
const NewStorageKey = StorageKey.extend({ secretAccessKey: z.string() });

export const StorageObject = z.object({
  key: z.string(),
  sizeBytes: z.number(),
  etag: z.string(),
  contentType: z.string(),
  modifiedAt: z.string(),
});
export type StorageObject = z.infer<typeof StorageObject>;

const encoder = new TextEncoder();

/** Never trimmed. */
export const ObjectKey = z
  .string(text('Object key is required'))
  .min(1, text('Object key is required'))
  .refine((key) => encoder.encode(key).length <= MAX_OBJECT_KEY_BYTES, text('Object key must be at most 1,024 bytes'))
  .refine((key) => key.isWellFormed() && !key.includes('\0'), text('Object key must be valid text'));

export const Prefix = z
  .string()
  .refine((key) => encoder.encode(key).length <= MAX_OBJECT_KEY_BYTES, text('Prefix must be at most 1,024 bytes'))
  .refine((key) => key.isWellFormed() && !key.includes('\0'), text('Prefix must be valid text'));

const KeyOfStorage = z.object({ id: Id, keyId: Id });
export const ObjectOfStorage = z.object({ id: Id, key: ObjectKey });
export const Link = z.object({ isSuccess: z.literal(true), link: z.string(), expiresAt: z.string() });

/** An upload in parts that is neither completed nor aborted. */
export const OpenUpload = z.object({
  uploadId: z.string(),
  key: z.string(),
  startedAt: z.string(),
  parts: z.array(z.object({ partNumber: z.number().int(), sizeBytes: z.number(), etag: z.string() })),
});
export type OpenUpload = z.infer<typeof OpenUpload>;

const PartNumber = z.number().int().min(1).max(10_000);
const MANAGE = ['INSTANCE_RENTED_MANAGEMENT'] as const;

export const storages = {
  list: call({
    path: 'storage/list',
    summary: 'Storages and log buckets of the workspace. Deleted ones only when asked for by status.',
    auth: MANAGE,
    byToken: true,
    input: ListInput.extend({
      /** Left out: both. */
      kind: StorageKind.optional(),
    }),
    output: listOf(Storage),
  }),
  view: call({
    path: 'storage/view',
    summary: 'One storage.',
    auth: MANAGE,
    byToken: true,
    input: Ref,
    output: oneOf(Storage),
  }),
  form: call({
    path: 'storage/form',
    summary: 'What a storage may be: locations, the price of a gigabyte, how much of the plan is left.',
    auth: MANAGE,
    byToken: true,
    input: z.object({}),
    output: z.object({
      isSuccess: z.literal(true),
      locations: z.array(z.object({ name: z.string(), title: z.string() })),
      pricePerGbMonth: Price,
      /** Total size of the plan's storages and repositories, by person where the plan is Free; null: unlimited. */
      planGb: z.number().nullable(),
      usedGb: z.number(),
    }),
  }),
  create: call({
    path: 'storage/create',
    summary: 'Rents a storage. Answers at once; it can be used within two minutes, usually seconds.',
    auth: MANAGE,
    byToken: true,
    input: z.object({
      title: Title,
      slug: StorageSlug,
      sizeGb: StorageSize,
      location: z
        .string(text('Location is required'))
        .trim()
        .min(1, text('Location is required'))
        .max(40, text('Location is required')),
    }),
    output: oneOf(Storage),
  }),
  edit: call({
    path: 'storage/edit',
    summary: 'Changes the title or the size, which is never less than what is stored.',
    auth: MANAGE,
    byToken: true,
    input: z.object({
      id: Id,
      title: Title.optional(),
      sizeGb: StorageSize.optional(),
      version: EditVersion.optional(),
    }),
    output: oneOf(Storage),
  }),
  delete: call({
    path: 'storage/delete',
    summary: 'Deletes a storage with all its objects and keys.',
    auth: MANAGE,
    byToken: true,
    input: z.object({ id: Id, slugTyped: z.string().trim().max(60) }),
    output: oneOf(Storage),
  }),
  usage: call({
    path: 'storage/usage',
    summary: 'How much a storage held over time.',
    auth: MANAGE,
    byToken: true,
    input: z.object({ id: Id, from: z.iso.datetime().optional(), to: z.iso.datetime().optional() }),
    output: z.object({
      isSuccess: z.literal(true),
      points: z.array(z.object({ at: z.string(), usedBytes: z.number(), objectCount: z.number() })),
    }),
  }),

  keys: call({
    path: 'storage/key/list',
    summary: 'Access keys of a storage that still work.',
    auth: MANAGE,
    byToken: true,
    input: ListInput.extend({ id: Id }),
    output: listOf(StorageKey),
  }),
  createKey: call({
    path: 'storage/key/create',
    summary: 'Makes an access key; only this answer contains its secret. Keys of a log bucket are read-only.',
    auth: MANAGE,
    byToken: true,
    input: z.object({ id: Id, title: Title, mode: StorageKeyMode, prefix: Prefix.default('') }),
    output: oneOf(NewStorageKey),
  }),
  rotateKey: call({
    path: 'storage/key/rotate',
    summary: 'Makes a key with the same rights; the old one works for some hours more.',
    auth: MANAGE,
    byToken: true,
    input: KeyOfStorage.extend({ overlapHours: z.number().int().min(0).max(168).default(24) }),
    output: oneOf(NewStorageKey),
  }),
  revokeKey: call({
    path: 'storage/key/revoke',
    summary: 'Ends an access key at once.',
    auth: MANAGE,
    byToken: true,
    input: KeyOfStorage,
    output: SuccessResponse,
  }),

  objects: call({
    path: 'storage/object/list',
    summary: 'One level of objects and folders below a prefix, in the order of their keys.',
    auth: MANAGE,
    byToken: true,
    input: z.object({
      id: Id,
      prefix: Prefix.default(''),
      /** False: all objects below the prefix, without folders. */
      folders: z.boolean().default(true),
      /** `next` of the page before. */
      after: z.string().max(2_000).optional(),
      limit: z.number().int().min(1).max(1_000).default(100),
    }),
    output: z.object({
      isSuccess: z.literal(true),
      /** Prefixes that end in `/`. */
      folders: z.array(z.string()),
      objects: z.array(StorageObject),
      next: z.string().nullable(),
    }),
  }),
  uploadLink: call({
    path: 'storage/object/upload-link',
    summary: 'A presigned URL to PUT one object.',
    auth: MANAGE,
    byToken: true,
    input: ObjectOfStorage,
    output: Link,
  }),
  downloadLink: call({
    path: 'storage/object/download-link',
    summary: 'A presigned URL to GET one object as a file, or `inline` to read its beginning.',
    auth: MANAGE,
    byToken: true,
    input: ObjectOfStorage.extend({ inline: z.boolean().default(false) }),
    output: Link,
  }),
  deleteObjects: call({
    path: 'storage/object/delete',
    summary: 'Deletes objects by key, or those below a prefix, up to 1,000 at a time: repeat while `isMore`.',
    auth: MANAGE,
    byToken: true,
    input: z.object({
      id: Id,
      keys: z.array(ObjectKey).max(1_000).default([]),
      prefix: Prefix.optional(),
    }),
    output: z.object({ isSuccess: z.literal(true), deleted: z.number().int(), isMore: z.boolean() }),
  }),

  beginMultipart: call({
    path: 'storage/object/multipart-begin',
    summary: 'Begins an upload in parts of `partBytes` each, the last one smaller.',
    auth: MANAGE,
    byToken: true,
    input: ObjectOfStorage.extend({
      sizeBytes: z.number().int().min(0),
      contentType: z.string().trim().max(200).optional(),
    }),
    output: z.object({ isSuccess: z.literal(true), uploadId: z.string(), partBytes: z.number().int() }),
  }),
  multipartPartLinks: call({
    path: 'storage/object/multipart-part-links',
    summary: 'Presigned URLs to PUT parts.',
    auth: MANAGE,
    byToken: true,
    input: ObjectOfStorage.extend({ uploadId: z.string().max(100), partNumbers: z.array(PartNumber).min(1).max(100) }),
    output: z.object({
      isSuccess: z.literal(true),
      links: z.array(z.object({ partNumber: PartNumber, link: z.string() })),
      expiresAt: z.string(),
    }),
  }),
  openMultiparts: call({
    path: 'storage/object/multipart-list',
    summary: 'Uploads in parts that are still open, with the parts that are stored: to go on after a reload.',
    auth: MANAGE,
    byToken: true,
    input: z.object({ id: Id, key: ObjectKey.optional() }),
    output: z.object({ isSuccess: z.literal(true), uploads: z.array(OpenUpload) }),
  }),
  completeMultipart: call({
    path: 'storage/object/multipart-complete',
    summary: 'Makes the parts one object.',
    auth: MANAGE,
    byToken: true,
    input: ObjectOfStorage.extend({ uploadId: z.string().max(100) }),
    output: z.object({ isSuccess: z.literal(true), entity: StorageObject }),
  }),
  abortMultipart: call({
    path: 'storage/object/multipart-abort',
    summary: 'Gives up an upload in parts and frees what it holds.',
    auth: MANAGE,
    byToken: true,
    input: ObjectOfStorage.extend({ uploadId: z.string().max(100) }),
    output: SuccessResponse,
  }),
};
