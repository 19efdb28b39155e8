import type { DaemonMessage } from '@stagi/contract/daemon.ts';
import type { DesiredContainer, DesiredTask } from '@stagi/contract/desiredState.ts';
import { text } from '@stagi/contract/text.ts';
import type { ContainerRecords } from './containerRecords.ts';
import type { ArchiveEngine } from './dockerArchive.ts';
import { log } from './log.ts';
import type { SeenContainer } from './plan.ts';
import { megabytes } from './pullProgress.ts';
import { createSlots } from './slots.ts';
import { isPermanent, messageOf } from './stepErrors.ts';
import { type SavedOutput, saveOutput } from './taskOutput.ts';
import { type TaskPlatform, taskPlatform } from './taskPlatform.ts';
import { type Progress, prepareTask } from './taskPrepare.ts';
import { NEW_TASK } from './taskRecord.ts';

const PROGRESS_EVERY_MS = 500;
/** Of all runs together: files of up to 64 MiB, or parts of larger ones, that are in memory at a time. */
const OUTPUT_SLOTS = 4;

export interface TaskFilesDeps {
  engine: ArchiveEngine;
  records: ContainerRecords;
  /** Of the platform, pinned. */
  origin: string;
  report(message: Extract<DaemonMessage, { type: 'progress' }>): void;
  /** Asks for another pass, which reports the record. */
  wake(): void;
}

export type TaskContainer = DesiredContainer & { task: DesiredTask };

/** What is done with the files of tasks. */
export interface TaskFiles {
  /** A container is about to be created: nothing is in it. */
  reset(target: TaskContainer): Promise<void>;
  prepare(target: TaskContainer, dockerId: string, signal: AbortSignal): Promise<void>;
  /** Uploads the output. Throws when it is to be tried again; what can never be uploaded is recorded. */
  save(target: TaskContainer, seen: SeenContainer, signal: AbortSignal): Promise<void>;
}

export function taskFiles({ engine, records, origin, report, wake }: TaskFilesDeps): TaskFiles {
  const slots = createSlots(OUTPUT_SLOTS);
  /** What earlier attempts have uploaded, by container. */
  const saved = new Map<number, SavedOutput>();

  function platformOf(target: TaskContainer, signal: AbortSignal): TaskPlatform {
    const onTrouble = (error: string | null) => {
      if (error !== null) log(`container ${target.slug}: to be tried again: ${error}`);
      records.noteTask(target.id, { error });
      wake();
    };
    return taskPlatform({ origin, token: target.task.token, signal, onTrouble });
  }
  function progressOf(target: TaskContainer, phase: 'preparing' | 'saving'): (progress: Progress) => void {
    let reportedAt = performance.now();
    return ({ detail, fraction }) => {
      if (performance.now() - reportedAt < PROGRESS_EVERY_MS) return;
      reportedAt = performance.now();
      report({ type: 'progress', containerId: target.id, gen: target.gen, phase, detail, fraction });
    };
  }

  async function upload(target: TaskContainer, dockerId: string, signal: AbortSignal): Promise<void> {
    const output = saved.get(target.id) ?? { entries: 0, files: 0, bytes: 0, skipped: 0, partial: null };
    saved.set(target.id, output);
    const onProgress = progressOf(target, 'saving');
    await saveOutput({
      engine,
      platform: platformOf(target, signal),
      dockerId,
      outputPath: target.task.outputPath,
      saved: output,
      slots,
      signal,
      onProgress(bytes) {
        records.noteTask(target.id, countsOf(output));
        onProgress({ detail: `${megabytes(bytes)} MB`, fraction: null });
      },
    });
    await records.changeTask(target.id, { phase: 'saved', error: null, ...countsOf(output) });
    saved.delete(target.id);
  }

  async function giveUp(id: number, error: string): Promise<void> {
    await records.changeTask(id, { phase: 'not saved', error });
    saved.delete(id);
  }

  return {
    async reset({ id }) {
      saved.delete(id);
      await records.changeTask(id, NEW_TASK);
    },

    async prepare(target, dockerId, signal) {
      const onProgress = progressOf(target, 'preparing');
      const ended = new AbortController();
      const platform = platformOf(target, AbortSignal.any([signal, ended.signal]));
      try {
        await prepareTask({ engine, platform, dockerId, task: target.task, onProgress, signal });
      } finally {
        // Requests of a failed attempt would go on, and change the record of the next one.
        ended.abort();
      }
      await records.changeTask(target.id, { phase: 'ready', error: null });
    },

    async save(target, { dockerId, state }, signal) {
      if (state === 'dead') return giveUp(target.id, text('The container was being removed'));
      try {
        await upload(target, dockerId, signal);
      } catch (error) {
        signal.throwIfAborted();
        const message = messageOf(error);
        if (isPermanent(error)) return giveUp(target.id, message);
        records.noteTask(target.id, { error: message });
        throw error;
      }
    },
  };
}

function countsOf({ files, bytes, skipped }: SavedOutput): Pick<SavedOutput, 'files' | 'bytes' | 'skipped'> {
  return { files, bytes, skipped };
}
