import { z } from 'zod';
import { readFileIfExists, writeFileAtomically } from '../../atomicFile.ts';
import { errorText, log } from '../../log.ts';
import { parseJson } from '../../parseJson.ts';

/** What is left of a terminal if the daemon dies. */
const TerminalRecord = z.object({
  /** Of the kernel's boot: process numbers of another one mean nothing. */
  bootId: z.string(),
  /** Of Docker; it is known before the program runs. */
  execId: z.string().nullable(),
  mark: z.object({ pid: z.number().int(), startedAt: z.number(), cgroup: z.string().min(1) }).nullable(),
  /** What stands in the name of its control group. */
  cgroup: z.string().nullable(),
});
export type TerminalRecord = z.infer<typeof TerminalRecord>;

/** The terminals that run, on disk: another daemon ends those that this one leaves behind. */
export interface TerminalRecords {
  entries(): [session: string, TerminalRecord][];
  set(session: string, record: TerminalRecord): Promise<void>;
  delete(session: string): Promise<void>;
}

export async function openTerminalRecords(path: string): Promise<TerminalRecords> {
  const records = await load(path);
  let writing = Promise.resolve();
  function save(): Promise<void> {
    const write = () => writeFileAtomically(path, JSON.stringify(Object.fromEntries(records)), 0o600);
    // The caller of a failed write gets its error; the next write must run all the same.
    writing = writing.then(write, write);
    return writing;
  }
  return {
    entries: () => [...records],
    set(session, record) {
      records.set(session, record);
      return save();
    },
    async delete(session) {
      if (records.delete(session)) await save();
    },
  };
}

async function load(path: string): Promise<Map<string, TerminalRecord>> {
  const content = await readFileIfExists(path);
  if (content === null) return new Map();
  const read = z.record(z.string(), TerminalRecord).safeParse(parseJson(content));
  if (read.success) return new Map(Object.entries(read.data));
  log(`the record of terminals is damaged and begins anew: ${errorText(read.error)}`);
  return new Map();
}
