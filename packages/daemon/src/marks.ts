import { z } from 'zod';
import { readIfThere, writeDurably } from './durable.ts';
import { reasonOf, say } from './log.ts';
import type { SeenContainer } from './plan.ts';

/** What Docker cannot tell of a container: whether it was started under its present generation, and what failed. */
const Mark = z.object({
  begunGen: z.number(),
  /** A start that was about to be made, and what Docker showed as the last start before it. */
  intent: z.object({ gen: z.number(), startedBefore: z.string().nullable() }).nullable(),
  /** The generation under which it ended by itself. */
  endedGen: z.number(),
  /** A failure that is not tried again under this generation. */
  failed: z.object({ gen: z.number(), phase: z.string(), message: z.string() }).nullable(),
});
type Mark = z.infer<typeof Mark>;
const NONE: Mark = { begunGen: 0, intent: null, endedGen: 0, failed: null };

export type Failure = NonNullable<Mark['failed']>;

export interface Marks {
  /** The highest generation that was started, however the daemon ended meanwhile. */
  begunGen(seen: Pick<SeenContainer, 'id' | 'startedAt'>): number;
  /** On disk before the start is made: after a crash Docker's own start time tells whether it was. */
  aboutToStart(id: number, gen: number, startedBefore: string | null): Promise<void>;
  started(id: number, gen: number): Promise<void>;
  endedGen(id: number): number;
  ended(id: number, gen: number): Promise<void>;
  failure(id: number, gen: number): Failure | null;
  fail(id: number, failure: Failure): Promise<void>;
  /** Forgets containers that neither the platform nor Docker knows any more. */
  keepOnly(ids: ReadonlySet<number>): Promise<void>;
}

export async function openMarks(path: string): Promise<Marks> {
  const marks = await load(path);
  let writing = Promise.resolve();

  function set(id: number, change: Partial<Mark>): Promise<void> {
    marks.set(id, { ...(marks.get(id) ?? NONE), ...change });
    return save();
  }
  function save(): Promise<void> {
    const write = () => writeDurably(path, JSON.stringify(Object.fromEntries(marks)), 0o600);
    // A failed write is its caller's to tell; the next one must be made all the same.
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
    endedGen: (id) => marks.get(id)?.endedGen ?? 0,
    async ended(id, gen) {
      if (marks.get(id)?.endedGen !== gen) await set(id, { endedGen: gen });
    },
    failure(id, gen) {
      const failed = marks.get(id)?.failed ?? null;
      return failed?.gen === gen ? failed : null;
    },
    fail: (id, failed) => set(id, { failed }),
    async keepOnly(ids) {
      const stale = [...marks.keys()].filter((id) => !ids.has(id));
      if (stale.length === 0) return;
      for (const id of stale) marks.delete(id);
      await save();
    },
  };
}

async function load(path: string): Promise<Map<number, Mark>> {
  const text = await readIfThere(path);
  if (text === null) return new Map();
  try {
    const read = z.record(z.string(), Mark).parse(JSON.parse(text));
    return new Map(Object.entries(read).map(([id, mark]) => [Number(id), mark]));
  } catch (error) {
    say(`the record of started containers is damaged and begins anew: ${reasonOf(error)}`);
    return new Map();
  }
}
