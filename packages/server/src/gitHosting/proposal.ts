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
const LINE = /^([0-9a-f]{40}|[0-9a-f]{64}) ([0-9a-f]{40}|[0-9a-f]{64}) (refs\/.+)$/;
const ZERO = /^0+$/;

/** Reads what `hooks/pre-receive` sends: the quarantine, the updates, an empty line. Null: it sent nothing, or too much. */
export async function readProposal(hook: Readable): Promise<Proposal | null> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  try {
    for await (const chunk of hook as AsyncIterable<Buffer>) {
      chunks.push(chunk);
      bytes += chunk.length;
      if (bytes > MAX_BYTES) return null;
      const isWhole = chunk.at(-1) === 0x0a && (chunk.at(-2) ?? chunks.at(-2)?.at(-1)) === 0x0a;
      if (isWhole) return parse(Buffer.concat(chunks).toString());
    }
  } catch {
    // The hook was killed.
  }
  return null;
}

function parse(text: string): Proposal | null {
  const [quarantine = '', ...lines] = text.slice(0, -2).split('\n');
  const updates: RefUpdate[] = [];
  for (const line of lines) {
    const [, before, after, ref] = LINE.exec(line) ?? [];
    if (!before || !after || !ref) return null;
    updates.push({ ref, before: ZERO.test(before) ? null : before, after: ZERO.test(after) ? null : after });
  }
  return updates.length > 0 ? { quarantine: quarantine || null, updates } : null;
}
