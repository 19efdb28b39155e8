import { z } from 'zod';
import { readFileIfExists, writeFileAtomically } from './atomicFile.ts';
import { errorText, log } from './log.ts';
import type { SeenContainer } from './plan.ts';
import { NEW_TASK, TaskRecord } from './taskRecord.ts';

/** What Docker does not know of a container: the generation it was started under, and what failed. */
const ContainerRecord = z.object({
  begunGen: z.number(),
  /** A start that was about to be made, with Docker's last start time before it. */
  intent: z.object({ gen: z.number(), startedBefore: z.string().nullable() }).nullable(),
  /** The generation under which it ended by itself. */
  endedGen: z.number(),
  /** A permanent failure: not retried under this generation. */
  failed: z
    .object({
      gen: z.number(),
      phase: z.string(),
      message: z.string(),
      waitsFor: z.literal('credential').optional(),
    })
    .nullable(),
  /** Of the run of a task. Earlier daemons leave it out. */
  task: TaskRecord.nullable().default(null),
});
type ContainerRecord = z.infer<typeof ContainerRecord>;
const NONE: ContainerRecord = { begunGen: 0, intent: null, endedGen: 0, failed: null, task: null };

export type Failure = NonNullable<ContainerRecord['failed']>;

export interface ContainerRecords {
  /** The highest generation that was started, also when the daemon crashed during the start. */
  begunGen(seen: Pick<SeenContainer, 'id' | 'startedAt'>): number;
  /** Stores the intent before the start: after a crash Docker's start time tells whether it happened. */
  aboutToStart(id: number, gen: number, startedBefore: string | null): Promise<void>;
  started(id: number, gen: number): Promise<void>;
  /** Whether it was started, or may have been: for a container that is gone. */
  hasBegun(id: number): boolean;
  /** For each container its last start, and the highest generation of all that is recorded. */
  generations(): { id: number; gen: number; begunGen: number }[];
  endedGen(id: number): number;
  ended(id: number, gen: number): Promise<void>;
  failure(id: number, gen: number): Failure | null;
  fail(id: number, failure: Failure): Promise<void>;
  task(id: number): TaskRecord | null;
  changeTask(id: number, change: Partial<TaskRecord>): Promise<void>;
  /** As `changeTask`, until the next restart of the daemon only. */
  noteTask(id: number, change: Partial<TaskRecord>): void;
  /** Forgets containers that neither the platform nor Docker knows any more. */
  forgetExcept(ids: ReadonlySet<number>): Promise<void>;
}

export async function openContainerRecords(path: string): Promise<ContainerRecords> {
  const marks = await load(path);
  let writing = Promise.resolve();

  function set(id: number, change: Partial<ContainerRecord>): Promise<void> {
    marks.set(id, { ...(marks.get(id) ?? NONE), ...change });
    return save();
  }
  function noteTask(id: number, change: Partial<TaskRecord>): void {
    const mark = marks.get(id) ?? NONE;
    marks.set(id, { ...mark, task: { ...(mark.task ?? NEW_TASK), ...change } });
  }
  function save(): Promise<void> {
    const write = () => writeFileAtomically(path, JSON.stringify(Object.fromEntries(marks)), 0o600);
    // The caller of a failed write gets its error; the next write must run all the same.
    writing = writing.then(write, write);
    return writing;
  }
  return {
    begunGen({ id, startedAt }) {
      const { begunGen, intent } = marks.get(id) ?? NONE;
      const happened = intent !== null && startedAt !== null && startedAt !== intent.startedBefore;
      return happened ? Math.max(begunGen, intent.gen) : begunGen;
    },
    aboutToStart: (id, gen, startedBefore) => set(id, { intent: { gen, startedBefore } }),
    started: (id, gen) => set(id, { begunGen: gen, intent: null, failed: null }),
    hasBegun(id) {
      const { begunGen, intent } = marks.get(id) ?? NONE;
      return begunGen > 0 || intent !== null;
    },
    generations: () =>
      [...marks].map(([id, { begunGen, intent, endedGen, failed }]) => ({
        id,
        gen: Math.max(begunGen, intent?.gen ?? 0, endedGen, failed?.gen ?? 0),
        begunGen,
      })),
    endedGen: (id) => marks.get(id)?.endedGen ?? 0,
    async ended(id, gen) {
      if (marks.get(id)?.endedGen !== gen) await set(id, { endedGen: gen });
    },
    failure(id, gen) {
      const failed = marks.get(id)?.failed ?? null;
      return failed?.gen === gen ? failed : null;
    },
    fail: (id, failed) => set(id, { failed }),
    task: (id) => marks.get(id)?.task ?? null,
    changeTask(id, change) {
      noteTask(id, change);
      return save();
    },
    noteTask,
    async forgetExcept(ids) {
      const stale = [...marks.keys()].filter((id) => !ids.has(id));
      if (stale.length === 0) return;
      for (const id of stale) marks.delete(id);
      await save();
    },
  };
}

async function load(path: string): Promise<Map<number, ContainerRecord>> {
  const text = await readFileIfExists(path);
  if (text === null) return new Map();
  try {
    const read = z.record(z.string(), ContainerRecord).parse(JSON.parse(text));
    return new Map(Object.entries(read).map(([id, mark]) => [Number(id), mark]));
  } catch (error) {
    log(`the record of started containers is damaged and begins anew: ${errorText(error)}`);
    return new Map();
  }
}
