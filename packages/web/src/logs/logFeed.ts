import { api } from '@stagi/contract/api.ts';
import { CallError } from '@stagi/contract/errors.ts';
import type { LogLine, LogSource, SearchMode, TailMessage } from '@stagi/contract/logging.ts';
import { call } from '../api/client.ts';
import type { LogBounds } from './logBounds.ts';
import { createLogRows, type LogRow, type LogRows } from './logRows.ts';
import { openTail } from './tail.ts';

/** `past`: the time range is over and everything in it is loaded. */
export type Connection = 'loading' | 'live' | 'reconnecting' | 'past' | 'ended';
export type UnloadedRange = Extract<LogRow, { kind: 'unloaded' }>;

export interface LogFeed {
  readonly log: LogRows;
  /** Grows with every visible change, for `useSyncExternalStore`. */
  version(): number;
  subscribe(listener: () => void): () => void;
  connection(): Connection;
  /** Whether the first lines are loaded. */
  ready(): boolean;
  /** Why lines could not be loaded. */
  error(): Error | null;
  hasBefore(): boolean;
  /** The number of lines that came live. */
  received(): number;
  /** Loads lines before the first one. One fetch at a time. */
  loadOlder(): void;
  loadRange(range: UnloadedRange): void;
  /** Whether old lines may be dropped: not while somebody reads them. */
  setFollowing(following: boolean): void;
  retry(): void;
  close(): void;
}

const FIRST_PAGE = 500;
const OLDER_PAGE = 1_000;
const ROWS_MAX = 100_000;
const ROWS_KEPT = 80_000;
/** The limit of rows while old ones are kept for reading. */
const ROWS_MAX_READING = 400_000;
/** A hidden page gets no animation frames. */
const HIDDEN_MS = 250;
const AFTER_FAILURE_MS = 3_000;
/** The least time between two queries for new lines that match a regular expression. */
const POLL_MS = 500;

interface Page {
  limit: number;
  cursor?: { before: number } | { after: number };
}

export interface LogSearch {
  text: string;
  mode: SearchMode;
}

/**
 * A log: the newest lines that match, then live lines, and older ones on demand. A time range that is
 * over has no live lines.
 */
export function openLogFeed(source: LogSource, { text, mode }: LogSearch, bounds: LogBounds = {}): LogFeed {
  /** Only the platform evaluates regular expressions. A live line is then no more than a hint to query it. */
  const matchesOnServer = mode === 'regex' && text !== '';
  const log = createLogRows();
  const listeners = new Set<() => void>();
  const closing = new AbortController();
  let version = 0;
  let connection: Connection = 'loading';
  let error: Error | null = null;
  let ready = false;
  let hasBefore = false;
  let received = 0;
  let following = true;
  let fetching = false;
  let queue: TailMessage[] = [];
  let scheduled = false;
  let tail: { retry(): void; close(): void } | null = null;
  let polledTo = 0;
  let polling = false;
  let pollAgain = false;

  void begin();
  return {
    log,
    version: () => version,
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    connection: () => connection,
    ready: () => ready,
    error: () => error,
    hasBefore: () => hasBefore,
    received: () => received,
    loadOlder,
    loadRange,
    setFollowing(now) {
      following = now;
    },
    retry() {
      if (tail) tail.retry();
      else void begin();
    },
    close() {
      closing.abort();
      tail?.close();
      listeners.clear();
    },
  };

  async function begin(): Promise<void> {
    error = null;
    change('loading');
    const answer = await query({ limit: FIRST_PAGE });
    if (!answer) return;
    log.append(answer.lines, answer.gaps);
    hasBefore = answer.hasBefore;
    log.addRuns(answer.runs, !hasBefore);
    polledTo = Math.max(answer.lastSeq, answer.lines.at(-1)?.seq ?? 0);
    ready = true;
    if (bounds.to !== undefined) {
      change('past');
      return;
    }
    tail = openTail(source, answer.lastSeq, { message: enqueue, state: change });
    changed();
  }

  function enqueue(message: TailMessage): void {
    queue.push(message);
    if (scheduled) return;
    scheduled = true;
    if (document.hidden) window.setTimeout(flush, HIDDEN_MS);
    else requestAnimationFrame(flush);
  }

  function flush(): void {
    scheduled = false;
    const messages = queue;
    queue = [];
    if (closing.signal.aborted) return;
    for (const message of messages) {
      if (message.type === 'lines' && message.runs) log.addRuns(message.runs, !hasBefore);
    }
    if (matchesOnServer) {
      changed();
      void pollNew();
      return;
    }
    for (const message of messages) {
      if (message.type === 'skipped') log.skip(message.fromSeq, message.toSeq);
      else if (message.type === 'lines') received += log.append(message.lines.filter(matches), message.gaps);
    }
    trim();
    changed();
  }

  function trim(): void {
    if (log.rows.length > (following ? ROWS_MAX : ROWS_MAX_READING)) hasBefore = log.trim(ROWS_KEPT) || hasBefore;
  }

  /** Loads new matching lines. One query at a time; a hint during a query starts another one after it. */
  async function pollNew(): Promise<void> {
    pollAgain = true;
    if (polling) return;
    polling = true;
    while (pollAgain && !closing.signal.aborted) {
      pollAgain = false;
      const answer = await query({ limit: OLDER_PAGE, cursor: { after: polledTo } });
      if (answer) appendNew(answer);
      else pollAgain = true;
      await new Promise((resolve) => window.setTimeout(resolve, answer ? POLL_MS : AFTER_FAILURE_MS));
    }
    polling = false;
  }

  function appendNew({ lines, gaps, runs, lastSeq, isMore }: Answer): void {
    received += log.append(lines, gaps);
    log.addRuns(runs, !hasBefore);
    const last = lines.at(-1)?.seq ?? 0;
    const isFull = lines.length === OLDER_PAGE || isMore === true;
    polledTo = isFull ? last : Math.max(polledTo, lastSeq, last);
    if (isFull) pollAgain = true;
    trim();
    changed();
  }

  /** Like the search of the platform: a substring, ignoring case. */
  function matches(line: LogLine): boolean {
    return text === '' || line.text.toLowerCase().includes(text.toLowerCase());
  }

  function loadOlder(): void {
    const first = log.firstSeq();
    if (!hasBefore || first === 0 || fetching) return;
    void fetchPage(first, (answer) => {
      log.prepend(answer.lines, answer.gaps);
      hasBefore = answer.hasBefore;
      log.addRuns(answer.runs, !hasBefore);
    });
  }

  function loadRange(range: UnloadedRange): void {
    if (fetching) return;
    void fetchPage(range.toSeq + 1, (answer) => {
      log.load(range, answer.lines, answer.gaps, answer.hasBefore);
      log.addRuns(answer.runs, !hasBefore);
    });
  }

  async function fetchPage(before: number, use: (answer: Answer) => void): Promise<void> {
    fetching = true;
    const answer = await query({ limit: OLDER_PAGE, cursor: { before } });
    if (answer) {
      use(answer);
      endFetch();
    } else {
      window.setTimeout(endFetch, AFTER_FAILURE_MS);
    }
  }

  function endFetch(): void {
    fetching = false;
    changed();
  }

  type Answer = Awaited<ReturnType<typeof ask>>;

  function ask(page: Page) {
    return call(api.logging.query, { source, text, mode, ...bounds, ...page }, { quiet: true, signal: closing.signal });
  }

  async function query(page: Page): Promise<Answer | null> {
    try {
      const answer = await ask(page);
      error = null;
      return answer;
    } catch (cause) {
      if (closing.signal.aborted) return null;
      if (!(cause instanceof CallError)) throw cause;
      error = cause;
      changed();
      return null;
    }
  }

  function change(next: Connection): void {
    connection = next;
    changed();
  }

  function changed(): void {
    version += 1;
    for (const listener of listeners) listener();
  }
}
