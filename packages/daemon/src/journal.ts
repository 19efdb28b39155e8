import { type FileHandle, mkdir, open } from 'node:fs/promises';
import { dirname } from 'node:path';
import { z } from 'zod';
import { readIfThere, syncFolder, writeDurably } from './durable.ts';
import { reasonOf, say } from './log.ts';

const KEPT_MS = 7 * 24 * 3_600_000;

const Entry = z.object({
  id: z.string(),
  at: z.number(),
  /** Null: begun. What was seen before tells after a crash whether the command had its effect. */
  result: z.object({ ok: z.boolean(), message: z.string().nullable() }).nullable(),
  before: z.string().nullable(),
});
export type Entry = z.infer<typeof Entry>;

/** Which commands were begun and how they ended: an append-only file that is on disk before the caller goes on. */
export interface Journal {
  find(id: string): Entry | undefined;
  begin(id: string, before: string | null): Promise<void>;
  finish(id: string, result: { ok: boolean; message: string | null }): Promise<void>;
  close(): Promise<void>;
}

/** Reads what there is, drops what is older than seven days and a last line that a crash tore. */
export async function openJournal(path: string, now: () => number = Date.now): Promise<Journal> {
  const entries = new Map<string, Entry>();
  for (const entry of parse((await readIfThere(path)) ?? '')) {
    if (entry.at > now() - KEPT_MS) entries.set(entry.id, entry);
  }
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  await writeDurably(path, [...entries.values()].map(line).join(''), 0o600);
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
  // Whatever follows the last line feed was being written when the machine stopped.
  lines.pop();
  return lines.flatMap((row) => {
    try {
      return Entry.parse(JSON.parse(row));
    } catch (error) {
      say(`a damaged line of the command journal is left out: ${reasonOf(error)}`);
      return [];
    }
  });
}
