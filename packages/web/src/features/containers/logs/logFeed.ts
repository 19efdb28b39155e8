import { api } from '@stagi/contract/api.ts';
import { CallError } from '@stagi/contract/errors.ts';
import type { LogLine, SearchMode, TailMessage } from '@stagi/contract/logging.ts';
import { call } from '../../../api/client.ts';
import type { LogBounds } from './logBounds.ts';
import { createLogRows, type LogRow, type LogRows } from './logRows.ts';
import { openTail } from './tail.ts';

/** `past`: everything that was asked for is there, nothing comes any more. */
export type Connection = 'loading' | 'live' | 'reconnecting' | 'past' | 'ended';
export type Hole = Extract<LogRow, { kind: 'hole' }>;

export interface LogFeed {
  readonly log: LogRows;
  /** Grows with everything that shows: for `useSyncExternalStore`. */
  version(): number;
  subscribe(listener: () => void): () => void;
  connection(): Connection;
  /** Whether the first lines are here. */
  ready(): boolean;
  /** Why lines could not be had. */
  error(): Error | null;
  hasBefore(): boolean;
  /** Lines that came live since the beginning. */
  received(): number;
  /** Fetches lines before the first; one fetch at a time, none when there are none. */
  older(): void;
  fill(hole: Hole): void;
  /** Whether old lines may be dropped: not while somebody reads them. */
  setFollowing(following: boolean): void;
  retry(): void;
  close(): void;
}

const FIRST_PAGE = 500;
const OLDER_PAGE = 1_000;
const ROWS_MAX = 100_000;
const ROWS_KEPT = 80_000;
/** Even while somebody reads, memory has an end. */
const ROWS_MAX_READING = 400_000;
/** A hidden page draws nothing, so that its frames never come. */
const HIDDEN_MS = 250;
const AFTER_FAILURE_MS = 3_000;
/** New lines that may match a regular expression are asked for at most so often. */
const ASK_NEW_MS = 500;

interface Page {
  limit: number;
  cursor?: { before: number } | { after: number };
}

export interface LogSearch {
  text: string;
  mode: SearchMode;
}

/**
 * One container's log on screen: the newest lines that match, then what is printed, then what is scrolled back to.
 * Within bounds that are over nothing is printed any more.
 */
export function openLogFeed(containerId: number, { text, mode }: LogSearch, bounds: LogBounds = {}): LogFeed {
  /** Only the platform says what such an expression matches: live lines are then a hint to ask it. */
  const asks = mode === 'regex' && text !== '';
  const source = { type: 'docker-container' as const, id: containerId };
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
  let askedTo = 0;
  let asking = false;
  let askAgain = false;

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
    older,
    fill,
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
    askedTo = Math.max(answer.lastSeq, answer.lines.at(-1)?.seq ?? 0);
    ready = true;
    if (bounds.to !== undefined) {
      change('past');
      return;
    }
    tail = openTail(containerId, answer.lastSeq, { message: take, state: change });
    changed();
  }

  function take(message: TailMessage): void {
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
    if (asks) {
      void askNew();
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

  /** Fetches what matches behind the last line that was asked for; one fetch at a time, the last hint is never lost. */
  async function askNew(): Promise<void> {
    askAgain = true;
    if (asking) return;
    asking = true;
    while (askAgain && !closing.signal.aborted) {
      askAgain = false;
      const answer = await query({ limit: OLDER_PAGE, cursor: { after: askedTo } });
      if (answer) takeNew(answer);
      else askAgain = true;
      await new Promise((resolve) => window.setTimeout(resolve, answer ? ASK_NEW_MS : AFTER_FAILURE_MS));
    }
    asking = false;
  }

  function takeNew({ lines, gaps, lastSeq }: Answer): void {
    received += log.append(lines, gaps);
    const last = lines.at(-1)?.seq ?? 0;
    const isFull = lines.length === OLDER_PAGE;
    askedTo = isFull ? last : Math.max(askedTo, lastSeq, last);
    if (isFull) askAgain = true;
    trim();
    changed();
  }

  /** As the platform searches: anywhere in the line, whatever case. */
  function matches(line: LogLine): boolean {
    return text === '' || line.text.toLowerCase().includes(text.toLowerCase());
  }

  function older(): void {
    const first = log.firstSeq();
    if (!hasBefore || first === 0 || fetching) return;
    void fetchPage(first, (answer) => {
      log.prepend(answer.lines, answer.gaps);
      hasBefore = answer.hasBefore;
    });
  }

  function fill(hole: Hole): void {
    if (fetching) return;
    void fetchPage(hole.toSeq + 1, (answer) => log.fill(hole, answer.lines, answer.gaps, answer.hasBefore));
  }

  async function fetchPage(before: number, use: (answer: Answer) => void): Promise<void> {
    fetching = true;
    const answer = await query({ limit: OLDER_PAGE, cursor: { before } });
    if (answer) {
      use(answer);
      letFetch();
    } else {
      window.setTimeout(letFetch, AFTER_FAILURE_MS);
    }
  }

  function letFetch(): void {
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
