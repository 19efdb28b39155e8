import type { DesiredTask } from '@stagi/contract/desiredState.ts';
import { text } from '@stagi/contract/text.ts';
import type { ArchiveEngine, ContainerPath } from './dockerArchive.ts';
import { megabytes } from './pullProgress.ts';
import { writeInput } from './taskInput.ts';
import type { TaskPlatform } from './taskPlatform.ts';
import { writeSource } from './taskSource.ts';
import { joinedPath, putEntries, type TarPath, type TarWriter } from './taskTar.ts';
import { TransferError } from './transferError.ts';

const ALL_PERMISSIONS = 0o777;

export interface Progress {
  detail: string | null;
  /** 0 … 1; null: not known. */
  fraction: number | null;
}

/**
 * Puts the commit and the input into a container that was never started, and makes the directory of the output. May be
 * repeated. The three directories may be written by every user of the image.
 */
export async function prepareTask(about: {
  engine: ArchiveEngine;
  platform: TaskPlatform;
  dockerId: string;
  task: DesiredTask;
  onProgress(progress: Progress): void;
  signal: AbortSignal;
}): Promise<void> {
  const { engine, platform, dockerId, task, onProgress, signal } = about;
  const moved = { bytes: 0, input: 0, total: null as number | null };
  const advance = (bytes: number) => {
    moved.bytes += bytes;
    onProgress({
      detail: `${megabytes(moved.bytes)} MB`,
      fraction: moved.total === null ? null : Math.min(1, moved.input / Math.max(1, moved.total)),
    });
  };

  const inputProgress = {
    onListed(bytes: number, isComplete: boolean) {
      if (isComplete) moved.total = bytes;
    },
    onBytes(bytes: number) {
      moved.input += bytes;
      advance(bytes);
    },
  };
  const find = (path: string) => findDirectory(engine, dockerId, path);
  const [code, input, output] = await Promise.all([find(task.codePath), find(task.inputPath), find(task.outputPath)]);
  // One archive: Docker begins a process for each.
  const fill = async (tar: TarWriter) => {
    await openDirectory(tar, code);
    await writeSource(below(tar, code.path), await platform.source(), advance);
    await openDirectory(tar, input);
    await writeInput(below(tar, input.path), platform, inputProgress);
    await openDirectory(tar, output);
  };
  await putEntries(engine, dockerId, '/', fill, signal);
}

/** Where a directory is or will be, which is elsewhere when the image has a symbolic link in its place. */
async function findDirectory(engine: ArchiveEngine, dockerId: string, wanted: string): Promise<ContainerPath> {
  const found = await engine.pathAt(dockerId, wanted);
  if (found.kind === 'file')
    throw new TransferError(text('{{path}} is a file where a directory is needed', { path: wanted }), 'final');
  return { ...found, path: relative(found.path) };
}

/** Makes it, or lets every user write there. */
async function openDirectory(tar: TarWriter, { path, mode }: ContainerPath): Promise<void> {
  if (path !== '' && (mode & ALL_PERMISSIONS) !== ALL_PERMISSIONS) await tar.directory(path, mode | ALL_PERMISSIONS);
}

function below(tar: TarWriter, directory: string): TarWriter {
  const at = (path: TarPath) => (directory === '' ? path : joinedPath(directory, path));
  return {
    directory: (path, mode) => tar.directory(at(path), mode),
    link: (path, to, mtime) => tar.link(at(path), to, mtime),
    file: (path, about, chunks) => tar.file(at(path), about, chunks),
  };
}

function relative(path: string): string {
  return path
    .split('/')
    .filter((name) => name !== '' && name !== '.')
    .join('/');
}
