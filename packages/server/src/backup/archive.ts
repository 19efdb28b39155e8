import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import { text as readText } from 'node:stream/consumers';
import { constants, createZstdCompress, createZstdDecompress } from 'node:zlib';
import { BlobMissing, type BlobStore } from '@stagi/s3/blobStore.ts';
import { z } from 'zod';

/**
 * A store of backups. Each backup is a folder `backups/<name>` with a manifest, written last; bytes of objects and files,
 * which never change, lie once for all backups, under the names that they have on the platform's disk.
 */
const FORMAT = 1;
const FOLDER = 'backups/';
const MANIFEST = 'manifest';

const Sha256 = z.string().regex(/^[0-9a-f]{64}$/);

/** A part of a backup: a name in the store, its size there and its digest. */
const Part = z.strictObject({ name: z.string(), bytes: z.number().int().nonnegative(), sha256: Sha256 });
export type Part = z.infer<typeof Part>;

export const Manifest = z.strictObject({
  format: z.literal(FORMAT),
  /** The version that made it. */
  version: z.string(),
  /** The moment of its rows, by the clock of the database. */
  takenAt: z.iso.datetime(),
  migrations: z.array(z.string()),
  installation: z.strictObject({
    id: z.uuid(),
    environment: z.string(),
    keyId: z.string(),
    appOrigin: z.string(),
    daemonOrigin: z.string().nullable(),
  }),
  tables: z.array(
    z.strictObject({ table: z.string(), columns: z.array(z.string()), rows: z.number().int(), part: Part }),
  ),
  partitions: z.array(z.strictObject({ name: z.string(), parent: z.string(), bound: z.string() })),
  sequences: z.array(z.strictObject({ name: z.string(), last: z.string() })),
  /** `part` is null for one without any commit. */
  repositories: z.array(z.strictObject({ uuid: z.uuid(), head: z.string(), part: Part.nullable() })),
  /** A list of all objects and files: `name size sha256`, one a line. */
  blobs: z.strictObject({ count: z.number().int(), bytes: z.number().int(), part: Part }),
  /** Objects, files and repositories that rows name and that were not there. */
  absent: z.array(z.string()),
  /** Locations in other S3 services, whose bytes are in no backup. */
  elsewhere: z.array(z.string()),
  /** The host key of git over SSH, sealed with the secret key. */
  hostKey: z.string().nullable(),
});
export type Manifest = z.infer<typeof Manifest>;

/** Its message is shown to the person who runs the command. */
export class BackupRefused extends Error {}

export const nameOfBackup = (at: Date): string => at.toISOString().slice(0, 23).replace(/[:T.]/g, '-');

export const partName = (backup: string, ...parts: string[]): string =>
  FOLDER + [backup, ...parts.map((part) => part.replaceAll('_', '-'))].join('/');

/** Names of whole backups, oldest first, and of those that were broken off. */
export async function listBackups(store: BlobStore): Promise<{ whole: string[]; broken: string[] }> {
  const names = new Map<string, boolean>();
  for await (const { name } of store.list(FOLDER)) {
    const [backup = '', part] = name.slice(FOLDER.length).split('/');
    names.set(backup, names.get(backup) === true || part === MANIFEST);
  }
  const sorted = [...names].sort(([a], [b]) => (a < b ? -1 : 1));
  return {
    whole: sorted.filter(([, isWhole]) => isWhole).map(([name]) => name),
    broken: sorted.filter(([, isWhole]) => !isWhole).map(([name]) => name),
  };
}

export async function removeBackup(store: BlobStore, backup: string): Promise<void> {
  // The manifest first: what is removed in part is no backup.
  await store.remove(partName(backup, MANIFEST));
  for await (const { name } of store.list(`${FOLDER}${backup}/`)) await store.remove(name);
}

/** Throws `BackupRefused` when there is no such backup, or it cannot be read. */
export async function readManifest(store: BlobStore, backup: string): Promise<Manifest> {
  let text: string;
  try {
    text = await readText(await store.get(partName(backup, MANIFEST)));
  } catch (error) {
    if (error instanceof BlobMissing) throw new BackupRefused(`There is no whole backup ${backup}.`);
    throw error;
  }
  let parsed: z.ZodSafeParseResult<Manifest>;
  try {
    parsed = Manifest.safeParse(JSON.parse(text));
  } catch {
    throw new BackupRefused(`The manifest of ${backup} is damaged: remove ${FOLDER}${backup} from the place.`);
  }
  if (parsed.success) return parsed.data;
  throw new BackupRefused(
    `The manifest of ${backup} cannot be read; was it made by another version? ${z.prettifyError(parsed.error)}`,
  );
}

export async function writeManifest(store: BlobStore, backup: string, manifest: Manifest): Promise<void> {
  await store.put(partName(backup, MANIFEST), once(Buffer.from(JSON.stringify(manifest, null, 1))));
}

/** Stores bytes as they are, and answers how many and which. */
export async function writePart(store: BlobStore, name: string, body: AsyncIterable<Uint8Array>): Promise<Part> {
  const hash = createHash('sha256');
  async function* hashed(): AsyncGenerator<Uint8Array> {
    for await (const chunk of body) {
      hash.update(chunk);
      yield chunk;
    }
  }
  const bytes = await store.put(name, hashed());
  return { name, bytes, sha256: hash.digest('hex') };
}

/** The bytes of a part; throws `BackupRefused` at their end when they are others than were written. */
export async function* readPart(store: BlobStore, { name, bytes, sha256 }: Part): AsyncGenerator<Buffer> {
  const hash = createHash('sha256');
  let read = 0;
  for await (const chunk of (await store.get(name)) as AsyncIterable<Buffer>) {
    hash.update(chunk);
    read += chunk.length;
    yield chunk;
  }
  if (read !== bytes || hash.digest('hex') !== sha256)
    throw new BackupRefused(`${name} is damaged: its ${read} bytes are not the ${bytes} that were written.`);
}

/** Stores bytes compressed. Size and digest are those of the compressed ones. */
export function writeCompressed(store: BlobStore, name: string, body: Readable): Promise<Part> {
  const zstd = createZstdCompress({ params: { [constants.ZSTD_c_compressionLevel]: 3 } });
  body.on('error', (error) => zstd.destroy(error));
  return writePart(store, name, body.pipe(zstd));
}

export const readCompressed = (store: BlobStore, part: Part): Readable =>
  Readable.from(decompress(store, part), { objectMode: false });

async function* decompress(store: BlobStore, part: Part): AsyncGenerator<Buffer> {
  const zstd = createZstdDecompress();
  const bytes = Readable.from(readPart(store, part), { objectMode: false });
  bytes.on('error', (error) => zstd.destroy(error));
  try {
    yield* bytes.pipe(zstd);
  } catch (error) {
    // Damage may show before the end, where the checksum is compared.
    if (!(error as NodeJS.ErrnoException).code?.startsWith('ZSTD')) throw error;
    throw new BackupRefused(`${part.name} is damaged: ${(error as Error).message}.`);
  }
}

async function* once(content: Uint8Array): AsyncGenerator<Uint8Array> {
  yield content;
}
