import { z } from 'zod';
import { call } from './call.ts';
import { Id } from './page.ts';

export const LogSource = z.discriminatedUnion('type', [
  z.object({ type: z.literal('docker-container'), id: Id }),
  /** One run of a task, by its number. It has no lines until it has a place on its server. */
  z.object({ type: z.literal('task'), id: Id, run: z.number().int().min(1) }),
]);
export type LogSource = z.infer<typeof LogSource>;

/** How lines are searched: by text or by regular expression. */
export const SearchMode = z.enum(['contains', 'regex']);
export type SearchMode = z.infer<typeof SearchMode>;

export const LogLine = z.object({
  /** The line number within a source: from 1, without gaps. */
  seq: z.number().int(),
  /** RFC 3339 with nanoseconds, UTC. */
  time: z.string(),
  stream: z.enum(['stdout', 'stderr']),
  text: z.string(),
});
export type LogLine = z.infer<typeof LogLine>;

/** Lines that were lost before they could be stored, and where. */
export const LogGap = z.object({
  /** The gap follows this line; 0: before the first. */
  afterSeq: z.number().int(),
  from: z.string().nullable(),
  to: z.string().nullable(),
  reason: z.string(),
});
export type LogGap = z.infer<typeof LogGap>;

/** One run of a container, from a start to its end. Numbers count from 1 the runs that its server's daemon has seen. */
export const LogRun = z.object({
  number: z.number().int(),
  startedAt: z.string(),
  endedAt: z.string().nullable(),
  /** Null while it goes on, and when nobody saw how it ended. */
  exitCode: z.number().int().nullable(),
  /** Lines from this time on, in the format of `LogLine.time`, are of this run, up to those of the next. */
  linesFrom: z.string(),
});
export type LogRun = z.infer<typeof LogRun>;

export const logging = {
  query: call({
    path: 'logging/query',
    summary:
      'Stored log lines, oldest first. Without a cursor the newest `limit` lines; `before` pages back, `after` forward.',
    /** The permission to view the source is checked again when the source is loaded. */
    auth: ['INSTANCE_RENTED_MANAGEMENT', 'SELFHOSTED_INSTANCE_MANAGEMENT', 'PROJECT_MANAGEMENT', 'RUNNING_TASKS'],
    byToken: true,
    input: z.object({
      source: LogSource,
      from: z.iso.datetime().optional(),
      to: z.iso.datetime().optional(),
      /** Case does not matter. `regex` has no back-references and no look-around; its answer may be partial. */
      mode: SearchMode.default('contains'),
      text: z.string().trim().max(256).default(''),
      cursor: z
        .object({ before: z.number().int() })
        .or(z.object({ after: z.number().int() }))
        .optional(),
      limit: z.number().int().min(1).max(1000).default(500),
    }),
    output: z.object({
      isSuccess: z.literal(true),
      lines: z.array(LogLine),
      gaps: z.array(LogGap),
      /** The runs that these lines are of, and the run before them. */
      runs: z.array(LogRun),
      /** Whether older lines exist. */
      hasBefore: z.boolean(),
      /** There was no room for all lines of the page: more follow in the direction of the question. */
      isMore: z.literal(true).optional(),
      /** The last line stored so far; 0 when there is none. */
      lastSeq: z.number().int(),
    }),
  }),
};

/** `WS /frontend-api/logging/tail?ticket=…&type=docker-container&id=…&after=SEQ`, for a task also `run`: what the server sends. */
export const TailMessage = z.discriminatedUnion('type', [
  z.object({
    type: z.literal('lines'),
    lines: z.array(LogLine),
    gaps: z.array(LogGap),
    /** The current run and the one before; sent at the beginning and when a run begins or ends. */
    runs: z.array(LogRun).optional(),
  }),
  /** Backpressure: the reader was too slow. The lines up to `toSeq` are stored; fetch them with logging/query. */
  z.object({ type: z.literal('skipped'), fromSeq: z.number().int(), toSeq: z.number().int() }),
  z.object({ type: z.literal('ping') }),
]);
export type TailMessage = z.infer<typeof TailMessage>;
