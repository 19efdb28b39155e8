import type { LogGap, LogLine } from '@stagi/contract/logging.ts';
import { docker } from '@stagi/daemon/src/testing/image.ts';
import type { Random } from './random.ts';
import { createLinkTestbed, type LinkTestbed, until } from './testbed.ts';

const FIRST = 1000;
const WIDTH = 400;
const PATIENCE_MS = 300_000;

export interface OverflowResult {
  lines: number;
  stored: number;
  /** The lines that Docker had dropped, computed from its log. */
  lost: number;
  gaps: LogGap[];
  /** Whether there is exactly one gap, where the lines are missing: from the last stored line to the first kept one. */
  holds: boolean;
}

/** Prints more than Docker keeps while no daemon runs. Compares the reported gap with the missing lines. */
export async function runOverflow(random: Random, lines: number): Promise<OverflowResult> {
  const world = await createLinkTestbed(random);
  try {
    const wide = `seq -s "${'x'.repeat(WIDTH)}\n"`;
    const slug = `overflow-${process.pid}`;
    const { id } = await world.create(slug, `seq 1 ${FIRST}; sleep 4; ${wide} ${FIRST + 1} ${lines}`, 2);
    await until('the first lines', async () => (await world.lastSeq(id)) === FIRST);
    await world.daemon.end('SIGKILL');
    const container = docker.getContainer(`stagi-${slug}`);
    await until('the container has ended', async () => !(await container.inspect()).State.Running, PATIENCE_MS);
    const firstKept = await firstLineOf(slug);
    world.daemon.start();
    const expected = FIRST + (lines - firstKept + 1);
    await until('all that is left is stored', async () => (await world.lastSeq(id)) >= expected, PATIENCE_MS);
    return await judge(world, id, lines, firstKept);
  } finally {
    await world.cleanUp();
  }
}

async function judge(world: LinkTestbed, id: number, lines: number, firstKept: number): Promise<OverflowResult> {
  let before: LogLine | null = null;
  let stored = 0;
  let wrong = 0;
  const holes: { last: LogLine; next: LogLine }[] = [];
  const pages = world.readLog(id);
  let page = await pages.next();
  for (; !page.done; page = await pages.next()) {
    for (const line of page.value) {
      stored += 1;
      const number = Number.parseInt(line.text, 10);
      const due = before === null ? 1 : Number.parseInt(before.text, 10) + 1;
      if (number > due && before) holes.push({ last: before, next: line });
      else if (number !== due) wrong += 1;
      before = line;
    }
  }
  const gaps = page.value;
  const [hole] = holes;
  const [gap] = gaps;
  const isAt = hole !== undefined && gap !== undefined && gap.afterSeq === hole.last.seq;
  const isAsLong = isAt && gap.from === hole.last.time && gap.to === hole.next.time;
  const isAsLost = hole !== undefined && Number.parseInt(hole.next.text, 10) === firstKept;
  const endsWell = before !== null && Number.parseInt(before.text, 10) === lines;
  const holds = wrong === 0 && holes.length === 1 && gaps.length === 1 && isAsLong && isAsLost && endsWell;
  return { lines, stored, lost: firstKept - FIRST - 1, gaps, holds };
}

/** The number of the oldest line that Docker still has. */
async function firstLineOf(slug: string): Promise<number> {
  const stream = await docker.getContainer(`stagi-${slug}`).logs({ stdout: true, follow: true });
  const head: Buffer[] = [];
  for await (const chunk of stream) {
    head.push(chunk as Buffer);
    if (Buffer.concat(head).length > 8 + WIDTH) break;
  }
  return Number.parseInt(Buffer.concat(head).toString('latin1', 8), 10);
}

export function formatOverflow(
  name: string,
  seed: number,
  { lines, stored, lost, gaps, holds }: OverflowResult,
): string {
  const where = gaps.map(({ afterSeq, from, to }) => `after line ${afterSeq}, ${from} to ${to}`).join('; ');
  const verdict = holds ? 'its bounds are those of the loss' : 'WHICH IS NOT WHAT WAS LOST';
  return `${name}: seed ${seed}, n = ${lines} lines printed, ${stored} stored, ${lost} lost by Docker, ${gaps.length} gap (${where}): ${verdict}`;
}
