import { Transform, type Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Logger } from 'pino';
import { createIdleLimit } from './hostingLimits.ts';
import type { Served } from './serve.ts';

/** What git answers once a push is accepted is a report of some lines per ref. */
const MAX_HELD = 16 * 1024 * 1024;
/** What is still read of an input that git no longer wants: a client that is cut off while it sends reads no answer. */
const MAX_DRAINED = 1024 * 1024 * 1024;
const MAX_STDERR = 4_000;

interface Ends {
  /** Null: git reads nothing. */
  input: AsyncIterable<Buffer> | null;
  /** Whether a client reads the whole answer only after all of its input was read. */
  readsToTheEnd: boolean;
  output: Writable;
  /** Called before the first byte of output. */
  begin(): void;
  /** Ends the connection at once. */
  cut(): void;
  idleMs: number;
  /** Aborted when the client has left or was cut. */
  left: AbortSignal;
  log: Pick<Logger, 'debug'>;
}

/**
 * Moves bytes between a client and git until both are done; answers git's exit code, null for a killed one. Rejects when
 * the client left or the input is refused; git is killed then. In every case git has ended and what was pushed is
 * recorded when it returns.
 */
export async function runTransfer(
  served: Served,
  { input, readsToTheEnd, output, begin, cut, idleMs, left, log }: Ends,
): Promise<number | null> {
  const { git } = served;
  const idle = createIdleLimit(cut, idleMs);
  let stderr = '';
  git.stderr.on('data', (chunk: Buffer) => {
    if (stderr.length < MAX_STDERR) stderr += chunk.toString();
  });
  left.addEventListener('abort', git.kill, { once: true });
  if (left.aborted) git.kill();
  let settling: Promise<void> | null = null;
  const settled = (): Promise<void> => (settling ??= git.ended.then(() => served.settled()));

  const held: Buffer[] = [];
  let heldBytes = 0;
  // From its acceptance on a push is reported only once it is safe on disk and recorded.
  const hold = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      idle.touch();
      if (!served.isAccepted()) {
        begin();
        return done(null, chunk);
      }
      held.push(chunk);
      heldBytes += chunk.length;
      done(heldBytes > MAX_HELD ? new Error('git answered too much to a push') : null);
    },
    flush(done) {
      settled().then(() => {
        if (held.length > 0) begin();
        done(null, Buffer.concat(held));
      }, done);
    },
  });
  try {
    const read = copyToGit(input && served.checkInput(input), git.stdin, idle.touch);
    const written = served.isPush
      ? pipeline(git.stdout, hold, output, { end: false, signal: left })
      : pipeline(git.stdout.once('data', begin).on('data', idle.touch), output, { end: false, signal: left });
    await (readsToTheEnd ? Promise.all([read, written]) : Promise.race([written, read.then(() => written)]));
    const code = await git.ended;
    if (code !== 0) log.debug({ code, stderr }, 'git ended with an error');
    return code;
  } catch (error) {
    git.kill();
    throw error;
  } finally {
    idle.stop();
    left.removeEventListener('abort', git.kill);
    await settled();
  }
}

/** git may stop reading before the input ends; the rest is read all the same. */
async function copyToGit(input: AsyncIterable<Buffer> | null, stdin: Writable, touch: () => void): Promise<void> {
  const { promise: closed, resolve } = Promise.withResolvers<void>();
  let isOpen = true;
  const close = (): void => {
    isOpen = false;
    resolve();
  };
  // Its exit code says whether it ended too early.
  stdin.once('close', close).on('error', close);
  let drained = 0;
  for await (const chunk of input ?? []) {
    touch();
    if (!isOpen) {
      drained += chunk.length;
      if (drained > MAX_DRAINED) throw new Error('the client sends without end');
    } else if (!stdin.write(chunk)) {
      const { promise: drain, resolve: goOn } = Promise.withResolvers<void>();
      stdin.once('drain', goOn);
      await Promise.race([drain, closed]);
    }
  }
  stdin.end();
}
