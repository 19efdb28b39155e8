import type { TaskInputPage } from '@stagi/contract/taskTransfer.ts';
import { text } from '@stagi/contract/text.ts';
import type { z } from 'zod';
import { errorText } from './log.ts';
import type { TaskPlatform } from './taskPlatform.ts';
import { checkPath, counted, type TarWriter } from './taskTar.ts';
import { TransferError } from './transferError.ts';

/** Small objects are fetched ahead, into memory. */
const SMALL_BYTES = 1024 * 1024;
const AHEAD = 8;
/** How often reading an object is resumed without getting any further. */
const RESUMES = 5;

type InputFile = z.infer<typeof TaskInputPage>['files'][number];

export interface InputProgress {
  /** Of the files listed so far; all of them when `isComplete`. */
  onListed(bytes: number, isComplete: boolean): void;
  onBytes(bytes: number): void;
}

/** Writes the input files, and their directories before them. */
export async function writeInput(tar: TarWriter, platform: TaskPlatform, progress: InputProgress): Promise<void> {
  const tree = directoryTree();
  for await (const { file, chunks } of fetched(platform, listed(platform, progress))) {
    for (const directory of tree.enter(file.path)) await tar.directory(directory, 0o777);
    await tar.file(file.path, { size: file.sizeBytes, mode: 0o644 }, counted(chunks, progress.onBytes));
  }
}

async function* listed(platform: TaskPlatform, progress: InputProgress): AsyncGenerator<InputFile> {
  let total = 0;
  let after: string | null = null;
  do {
    const page: z.infer<typeof TaskInputPage> = await platform.inputPage(after);
    total += page.files.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
    progress.onListed(total, page.next === null);
    yield* page.files;
    after = page.next;
  } while (after !== null);
}

async function* fetched(
  platform: TaskPlatform,
  files: AsyncIterable<InputFile>,
): AsyncGenerator<{ file: InputFile; chunks: AsyncIterable<Buffer> }> {
  const waiting: { file: InputFile; chunks: AsyncIterable<Buffer> }[] = [];
  for await (const file of files) {
    const chunks = readObject(platform, file);
    waiting.push({ file, chunks: file.sizeBytes <= SMALL_BYTES ? ahead(chunks) : chunks });
    if (waiting.length >= AHEAD) yield waiting.shift()!;
  }
  yield* waiting;
}

/** Begins reading at once. */
function ahead(chunks: AsyncIterable<Buffer>): AsyncIterable<Buffer> {
  const whole = collect(chunks);
  // Its error is thrown when its turn comes; there may be none, after the error of another.
  whole.catch(() => {});
  return (async function* () {
    yield await whole;
  })();
}

async function collect(chunks: AsyncIterable<Buffer>): Promise<Buffer> {
  const found: Buffer[] = [];
  for await (const chunk of chunks) found.push(chunk);
  return Buffer.concat(found);
}

/** The bytes of an object. A connection that breaks off is resumed where it was. */
async function* readObject(platform: TaskPlatform, { path, sizeBytes, url }: InputFile): AsyncGenerator<Buffer> {
  let offset = 0;
  let tag: string | undefined;
  for (let failures = 0; offset < sizeBytes; ) {
    const range = { range: `bytes=${offset}-`, ...(tag ? { 'if-match': tag } : {}) };
    const response = await platform.getObject(url, offset > 0 ? range : {});
    tag ??= response.headers.etag;
    const isRest = response.statusCode === (offset > 0 ? 206 : 200);
    if (!isRest || Number(response.headers['content-length']) !== sizeBytes - offset) {
      response.destroy();
      throw new TransferError(text('The object {{path}} changed while it was read', { path }), 'later');
    }
    try {
      for await (const chunk of response as AsyncIterable<Buffer>) {
        offset += chunk.length;
        failures = 0;
        yield chunk;
      }
    } catch (error) {
      if (++failures > RESUMES)
        throw new TransferError(
          text('The storage cannot be reached: {{reason}}', { reason: errorText(error) }),
          'later',
        );
    }
  }
}

/**
 * The directories of sorted paths, each once, before what lies in it. Throws for a path that is both a file and a
 * directory: as the paths are sorted, only files whose path begins the current one can be.
 */
function directoryTree(): { enter(path: string): string[] } {
  let open: string[] = [];
  let files: string[] = [];
  return {
    enter(path) {
      checkPath(path);
      files = files.filter((file) => path.startsWith(file));
      const file = files.find((one) => path[one.length] === '/');
      if (file !== undefined)
        throw new TransferError(text('{{path}} would be both a file and a directory', { path: file }), 'final');
      files.push(path);
      const names = path.split('/').slice(0, -1);
      const shared = names.findIndex((name, index) => name !== open[index]);
      open = names;
      return shared < 0 ? [] : names.slice(shared).map((_, index) => names.slice(0, shared + index + 1).join('/'));
    },
  };
}
