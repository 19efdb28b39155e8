import type { Readable } from 'node:stream';

/** What a push wants to change. */
export interface Proposal {
  /** Where its objects lie until it is accepted; null: it brings none. */
  quarantine: string | null;
  updates: RefUpdate[];
}

export interface RefUpdate {
  ref: string;
  /** Null: the ref is new. */
  before: string | null;
  /** Null: the ref is deleted. */
  after: string | null;
}

/** About 100,000 refs. */
const MAX_BYTES = 16 * 1024 * 1024;
const NEWLINE = 0x0a;
const LINE = /^([0-9a-f]{40}|[0-9a-f]{64}) ([0-9a-f]{40}|[0-9a-f]{64}) (refs\/.+)$/;
const ZERO = /^0+$/;

export interface HookQuestions {
  /** The word of `hooks/pre-receive`: the quarantine, the updates, an empty line. Null: it sent nothing, or too much. */
  proposal(): Promise<Proposal | null>;
  /** The words of `hooks/update`, which asks for one ref after the other: their names, until git has ended. */
  refs(): AsyncGenerator<string>;
}

/** Reads what the hooks of one push send. */
export function readHook(hook: Readable): HookQuestions {
  const lines = linesOf(hook);
  return {
    async proposal() {
      const head: string[] = [];
      for (;;) {
        const { value: line, done } = await lines.next();
        if (done) return null;
        // The first line is empty where a push brings no objects.
        if (line === '' && head.length > 0) return parse(head);
        head.push(line);
      }
    },
    refs: () => lines,
  };
}

/** Ends early when a hook is killed or sends too much. */
async function* linesOf(hook: Readable): AsyncGenerator<string> {
  let bytes = 0;
  let parts: Buffer[] = [];
  try {
    for await (const chunk of hook as AsyncIterable<Buffer>) {
      bytes += chunk.length;
      if (bytes > MAX_BYTES) return;
      let at = 0;
      for (let end = chunk.indexOf(NEWLINE); end >= 0; end = chunk.indexOf(NEWLINE, at)) {
        yield Buffer.concat([...parts, chunk.subarray(at, end)]).toString();
        parts = [];
        at = end + 1;
      }
      if (at < chunk.length) parts.push(chunk.subarray(at));
    }
  } catch {
    // The hook was killed.
  }
}

function parse([quarantine = '', ...lines]: readonly string[]): Proposal | null {
  const updates: RefUpdate[] = [];
  for (const line of lines) {
    const [, before, after, ref] = LINE.exec(line) ?? [];
    if (!before || !after || !ref) return null;
    updates.push({ ref, before: ZERO.test(before) ? null : before, after: ZERO.test(after) ? null : after });
  }
  return updates.length > 0 ? { quarantine: quarantine || null, updates } : null;
}
