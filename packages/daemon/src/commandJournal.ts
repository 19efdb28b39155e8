import { type FileHandle, mkdir, open } from 'node:fs/promises';
import { dirname } from 'node:path';
import { CommandOutcome } from '@stagi/contract/desiredState.ts';
import { z } from 'zod';
import { readFileIfExists, syncFolder, writeFileAtomically } from './atomicFile.ts';
import { errorText, log } from './log.ts';

const RETENTION_MS = 7 * 24 * 3_600_000;

const JournalEntry = z.object({
  id: z.string(),
  at: z.number(),
  /** Null while the command runs. After a crash, `before` tells whether the command took effect. */
  result: z.object({ ok: z.boolean(), message: z.string().nullable(), outcome: CommandOutcome.optional() }).nullable(),
  before: z.string().nullable(),
});
export type Entry = z.infer<typeof JournalEntry>;

/** The commands that were begun and their results, for idempotency: an append-only file, written through to disk. */
export interface CommandJournal {
  find(id: string): Entry | undefined;
  begin(id: string, before: string | null): Promise<void>;
  finish(id: string, result: NonNullable<Entry['result']>): Promise<void>;
  close(): Promise<void>;
}

/** Reads the file, without entries older than seven days and without a last line that a crash cut off. */
export async function openCommandJournal(path: string, now: () => number = Date.now): Promise<CommandJournal> {
  const entries = new Map<string, Entry>();
  for (const entry of parse((await readFileIfExists(path)) ?? '')) {
    if (entry.at > now() - RETENTION_MS) entries.set(entry.id, entry);
  }
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  await writeFileAtomically(path, [...entries.values()].map(line).join(''), 0o600);
  const file = await open(path, 'a', 0o600);
  await syncFolder(dirname(path));

  async function append(entry: Entry): Promise<void> {
    entries.set(entry.id, entry);
    await write(file, entry);
  }
  return {
    find: (id) => entries.get(id),
    begin: (id, before) => append({ id, at: now(), result: null, before }),
    finish: (id, result) => append({ id, at: now(), result, before: entries.get(id)?.before ?? null }),
    close: () => file.close(),
  };
}

async function write(file: FileHandle, entry: Entry): Promise<void> {
  await file.appendFile(line(entry));
  await file.datasync();
}

function line(entry: Entry): string {
  return `${JSON.stringify(entry)}\n`;
}

function parse(text: string): Entry[] {
  const lines = text.split('\n');
  // Without a line feed the last line was cut off by a crash.
  lines.pop();
  return lines.flatMap((row) => {
    try {
      return JournalEntry.parse(JSON.parse(row));
    } catch (error) {
      log(`a damaged line of the command journal is left out: ${errorText(error)}`);
      return [];
    }
  });
}
