import type { Repository } from '../git/repositories.ts';
import { GitRefusal, NotOurRef } from './refusal.ts';

const LENGTH_DIGITS = 4;
/** gitprotocol-common(5): the longest packet. */
const PACKET_MAX = 65_520;
/** gitprotocol-v2(5): the packets without content: flush, delimiter, end of a response. */
const EMPTY_PACKETS: readonly number[] = [0, 1, 2];
const WANT = 'want ';
const HASH_DIGITS = 40;
/** A partial clone wants each file that it lacks by name. */
const WANTED_MAX = 500_000;
const CHECK_TIMEOUT_MS = 30_000;

/**
 * Passes on what a client sends to `git upload-pack` by version 2 of the protocol, in which git sends any object that
 * it has. A packet without content, for which git waits before it answers, and the end of the input are held back until
 * all that was wanted is known to be of a branch or tag: what was pushed away is fetched by nobody who knows its hash.
 * Throws GitRefusal.
 *
 * Files and folders are not looked for: only a partial clone names them, and that would cost a walk over all of the
 * history for each.
 */
export async function* checkWanted(repository: Repository, input: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let wanted = new Set<string>();
  let rest: Buffer = Buffer.alloc(0);
  for await (const chunk of input) {
    rest = rest.length > 0 ? Buffer.concat([rest, chunk]) : chunk;
    let passed = 0;
    for (let length = packetLength(rest, 0); length !== null; length = packetLength(rest, passed)) {
      if (EMPTY_PACKETS.includes(length)) {
        // The packets before it may go on: git answers nothing yet.
        if (passed > 0) yield rest.subarray(0, passed);
        rest = rest.subarray(passed);
        passed = 0;
        await requireOffered(repository, wanted);
        wanted = new Set();
      }
      const bytes = Math.max(length, LENGTH_DIGITS);
      if (rest.length - passed < bytes) break;
      addWanted(wanted, rest.toString('latin1', passed + LENGTH_DIGITS, passed + bytes));
      passed += bytes;
    }
    if (passed > 0) yield rest.subarray(0, passed);
    rest = rest.subarray(passed);
  }
  await requireOffered(repository, wanted);
  if (rest.length > 0) yield rest;
}

/** Null: its digits have not all come yet. */
function packetLength(bytes: Buffer, at: number): number | null {
  if (bytes.length - at < LENGTH_DIGITS) return null;
  const digits = bytes.toString('latin1', at, at + LENGTH_DIGITS);
  const length = /^[0-9a-f]{4}$/i.test(digits) ? Number.parseInt(digits, 16) : Number.NaN;
  if (EMPTY_PACKETS.includes(length) || (length >= LENGTH_DIGITS && length <= PACKET_MAX)) return length;
  throw new GitRefusal(400, 'This is not the protocol of git.');
}

/** As git reads it: what follows the hash is ignored. */
function addWanted(wanted: Set<string>, packet: string): void {
  if (!packet.startsWith(WANT)) return;
  const hash = packet.slice(WANT.length, WANT.length + HASH_DIGITS).toLowerCase();
  if (!/^[0-9a-f]{40}$/.test(hash)) throw new GitRefusal(400, 'This is not the protocol of git.');
  wanted.add(hash);
  if (wanted.size > WANTED_MAX) throw new GitRefusal(413, `More than ${WANTED_MAX} objects at once are not sent.`);
}

async function requireOffered(repository: Repository, wanted: ReadonlySet<string>): Promise<void> {
  if (wanted.size === 0) return;
  const offered = await offeredObjects(repository);
  const others = [...wanted].filter((hash) => !offered.has(hash));
  const commits: string[] = [];
  for (const hash of others) {
    const type = (await repository.info(hash))?.type;
    if (type === 'commit') commits.push(hash);
    // Each annotated tag that is offered is one that a ref names.
    else if (type !== 'tree' && type !== 'blob') throw new NotOurRef(hash);
  }
  const refused = await firstOfNoRef(repository, commits);
  if (refused) throw new NotOurRef(refused);
}

/** The objects that refs name, which the client is told of. */
async function offeredObjects(repository: Repository): Promise<ReadonlySet<string>> {
  const { stdout } = await repository.git(['for-each-ref', '--format=%(objectname)'], { timeoutMs: CHECK_TIMEOUT_MS });
  return new Set(stdout.toString().split('\n'));
}

/** One of these commits that no branch and no tag contains. */
async function firstOfNoRef(repository: Repository, commits: readonly string[]): Promise<string | null> {
  if (commits.length === 0) return null;
  const { stdout } = await repository.git(['rev-list', '--max-count=1', '--stdin', '--not', '--all'], {
    input: `${commits.join('\n')}\n`,
    timeoutMs: CHECK_TIMEOUT_MS,
  });
  return stdout.toString().trim() || null;
}
