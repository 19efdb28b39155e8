import { availableParallelism } from 'node:os';
import { setTimeout as pause } from 'node:timers/promises';
import { container, createDaemon, slugOf, type TestDaemon } from '@stagi/daemon/src/testing/daemon.ts';
import { docker, ensureTestImage, TEST_IMAGE } from '@stagi/daemon/src/testing/image.ts';
import { type FakePlatform, startFakePlatform } from '@stagi/daemon/src/testing/platform.ts';
import { until } from './testbed.ts';

const LINE_BYTES = 1000;
const BLOCK_LINES = 5000;
/** At most four CPUs: Docker refuses more than the machine has. */
const FULL_SPEED_NS = Math.min(4, availableParallelism()) * 1e9;
/** `seq` with a long separator prints wide lines; their number is at the end. */
const wide = `seq -s "${'x'.repeat(LINE_BYTES - 10)}\n"`;
/** Blocks of 5 MB with a pause between them: more than 50 MB/s, as far as Docker allows. */
const PRINT = `trap "exit 0" TERM; n=0; while :; do ${wide} $((n*${BLOCK_LINES}+1)) $(((n+1)*${BLOCK_LINES})); n=$((n+1)); sleep 0.06; done`;

export interface StalledResult {
  seconds: number;
  /**
   * Speed of the container: without a reader, without credit from the platform, and with a platform that does not read.
   */
  baselineMBs: number;
  /** The slower of the two baseline measurements: the speed of the machine varies. */
  slowerBaselineMBs: number;
  noCreditMBs: number;
  deafMBs: number;
  ratio: number;
  rssMax: number;
  rssCatchUpMax: number;
  printed: number;
  kept: number;
  lost: number;
  gaps: number;
  /** Lines that are missing without a gap, and lines that are duplicated or out of order. */
  unmarked: number;
  disorder: number;
}

/**
 * A container prints 50 MB/s while the platform first grants no credit and then does not read. The daemon must stay
 * small, the container as fast as without a reader, and every line that Docker dropped must be covered by a gap.
 */
export async function runStalled(seconds: number): Promise<StalledResult> {
  await ensureTestImage();
  const baselineSeconds = Math.max(2, Math.min(45, seconds / 8));
  const before = await baseline(baselineSeconds);
  const platform = await startFakePlatform({ node: String(9_300_000 + (process.pid % 100_000)) });
  const daemon = await createDaemon(platform);
  try {
    platform.logs.policy.grant = false;
    daemon.start();
    await platform.until('a hello', () => platform.received.find(({ type }) => type === 'hello'), 60_000);
    const memory = watchMemory(daemon);
    await platform.setDesired([container(1, PRINT, { spec: { nanoCpus: FULL_SPEED_NS } })]);
    await platform.until('it prints', () => platform.logs.of(1).lines.length > 0, 60_000);
    const name = `stagi-${slugOf(1)}`;
    const noCreditMBs = await speedOf(name, (seconds * 1000) / 2);
    platform.stopReading(true);
    const deafMBs = await speedOf(name, (seconds * 1000) / 2);
    const rssMax = memory.most();
    await docker.getContainer(name).stop();
    const printed = await lastLineOf(name);
    const after = await baseline(baselineSeconds);

    platform.logs.policy.grant = true;
    platform.stopReading(false);
    platform.logs.grantAll();
    await platform.until('the log has ended', () => platform.logs.of(1).ends > 0, 300_000);
    const rssCatchUpMax = memory.most();
    memory.stop();
    const baselineMBs = (before + after) / 2;
    return {
      seconds,
      baselineMBs,
      slowerBaselineMBs: Math.min(before, after),
      noCreditMBs,
      deafMBs,
      ratio: Math.min(noCreditMBs, deafMBs) / baselineMBs,
      rssMax,
      rssCatchUpMax,
      printed,
      ...compare(platform, printed),
    };
  } finally {
    await daemon.cleanUp();
    await platform.close();
  }
}

/** The same container with the same log files, without a reader. */
async function baseline(seconds: number): Promise<number> {
  const name = `stagi-baseline-${process.pid}`;
  const alone = await docker.createContainer({
    name,
    Image: TEST_IMAGE,
    Cmd: ['sh', '-c', PRINT],
    HostConfig: {
      NanoCpus: FULL_SPEED_NS,
      LogConfig: { Type: 'json-file', Config: { 'max-size': '50m', 'max-file': '3' } },
    },
  });
  try {
    await alone.start();
    await until('it prints', async () => (await lastLineOf(name)) > 0);
    return await speedOf(name, seconds * 1000);
  } finally {
    await alone.remove({ force: true });
  }
}

/** Megabytes a second, measured over this many milliseconds. */
async function speedOf(name: string, ms: number): Promise<number> {
  const [first, begun] = [await lastLineOf(name), performance.now()];
  await pause(ms);
  const [last, ended] = [await lastLineOf(name), performance.now()];
  return ((last - first) * LINE_BYTES) / 1e6 / ((ended - begun) / 1000);
}

async function lastLineOf(name: string): Promise<number> {
  const tail = await docker.getContainer(name).logs({ stdout: true, tail: 1 });
  return Number.parseInt(tail.toString('latin1', 8), 10) || 0;
}

function watchMemory(daemon: TestDaemon): { most(): number; stop(): void } {
  let most = 0;
  const timer = setInterval(async () => {
    // It may have exited since the last check.
    most = Math.max(most, await daemon.rssBytes().catch(() => 0));
  }, 250);
  return { most: () => most, stop: () => clearInterval(timer) };
}

function compare(platform: FakePlatform, printed: number) {
  const { lines, gaps } = platform.logs.of(1);
  const marked = new Set(gaps.map(({ to }) => to));
  let before = 0;
  let lost = 0;
  let unmarked = 0;
  let disorder = 0;
  for (const { text, timeNs } of lines) {
    const number = Number.parseInt(text, 10);
    const missing = number - before - 1;
    if (missing < 0) disorder += 1;
    if (missing > 0) lost += missing;
    if (missing > 0 && !marked.has(momentOf(timeNs))) unmarked += missing;
    before = Math.max(before, number);
  }
  return { kept: lines.length, lost, gaps: gaps.length, unmarked: unmarked + (printed - before), disorder };
}

function momentOf(timeNs: bigint): string {
  const seconds = new Date(Number(timeNs / 1_000_000_000n) * 1000).toISOString().slice(0, 19);
  return `${seconds}.${String(timeNs % 1_000_000_000n).padStart(9, '0')}Z`;
}

export function formatStalled(name: string, result: StalledResult): string {
  const megabytes = (bytes: number) => Math.round(bytes / 1e6);
  const speed = (value: number) => value.toFixed(1);
  return [
    `${name}: ${result.seconds} s stalled, n = ${result.printed} lines of 1 kB printed: ${speed(result.noCreditMBs)} MB/s without credit, ${speed(result.deafMBs)} MB/s without a reader, ${speed(result.baselineMBs)} MB/s alone, ratio ${result.ratio.toFixed(2)}`,
    `daemon RSS at most ${megabytes(result.rssMax)} MB stalled, ${megabytes(result.rssCatchUpMax)} MB catching up; ${result.kept} lines kept, ${result.lost} lost by Docker, ${result.gaps} gaps, ${result.unmarked} unmarked, ${result.disorder} twice or out of order`,
  ].join('\n');
}
