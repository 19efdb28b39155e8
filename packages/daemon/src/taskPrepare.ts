import type { DesiredTask } from '@stagi/contract/daemon.ts';
import { text } from '@stagi/contract/text.ts';
import type { ArchiveEngine } from './dockerArchive.ts';
import { megabytes } from './pullProgress.ts';
import { writeInput } from './taskInput.ts';
import type { TaskPlatform } from './taskPlatform.ts';
import { writeSource } from './taskSource.ts';
import { putEntries } from './taskTar.ts';
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

  const codeAt = await makeDirectory(engine, dockerId, task.codePath, signal);
  const source = await platform.source();
  await putEntries(engine, dockerId, codeAt, (tar) => writeSource(tar, source, advance), signal);

  const inputAt = await makeDirectory(engine, dockerId, task.inputPath, signal);
  const inputProgress = {
    onListed(bytes: number, isComplete: boolean) {
      if (isComplete) moved.total = bytes;
    },
    onBytes(bytes: number) {
      moved.input += bytes;
      advance(bytes);
    },
  };
  await putEntries(engine, dockerId, inputAt, (tar) => writeInput(tar, platform, inputProgress), signal);

  await makeDirectory(engine, dockerId, task.outputPath, signal);
}

/** Returns where the directory is, which is elsewhere when the image has a symbolic link in its place. */
async function makeDirectory(
  engine: ArchiveEngine,
  dockerId: string,
  wanted: string,
  signal: AbortSignal,
): Promise<string> {
  const { path, kind, mode } = await engine.pathAt(dockerId, wanted);
  if (kind === 'file')
    throw new TransferError(text('{{path}} is a file where a directory is needed', { path: wanted }), 'final');
  const isOpen = (mode & ALL_PERMISSIONS) === ALL_PERMISSIONS;
  if (!isOpen && path !== '/')
    await putEntries(engine, dockerId, '/', (tar) => tar.directory(relative(path), mode | ALL_PERMISSIONS), signal);
  return path;
}

function relative(path: string): string {
  return path
    .split('/')
    .filter((name) => name !== '' && name !== '.')
    .join('/');
}
