import { promisify } from 'node:util';
import { zstdCompress } from 'node:zlib';
import { formatNs } from '../logging/nanoTime.ts';
import { presentGap, presentLine } from '../logging/present.ts';

const compress = promisify(zstdCompress);

export interface ChunkLine {
  seq: bigint;
  time_ns: bigint;
  stderr: boolean;
  text: string;
}

export interface ChunkGap {
  after_seq: bigint;
  from_ns: bigint | null;
  to_ns: bigint | null;
  reason: string;
}

/** Lines of one container in their order, and the gaps before, between and (at the end of a log) after them. */
export interface ChunkContent {
  lines: readonly ChunkLine[];
  gaps: readonly ChunkGap[];
}

const SEQ_DIGITS = 12;
const NS_PER_HOUR = 3_600_000_000_000n;

/** `{folder}/{yyyy}/{mm}/{dd}/{hh}-{seq}.ndjson.zst`, by the time and number of its first line, in UTC. */
export function keyOf(folder: string, timeNs: bigint, seq: bigint): string {
  const [date = '', time = ''] = formatNs(timeNs).split('T');
  return `${folder}/${date.replaceAll('-', '/')}/${time.slice(0, 2)}-${String(seq).padStart(SEQ_DIGITS, '0')}.ndjson.zst`;
}

export const hourOf = ({ time_ns }: Pick<ChunkLine, 'time_ns'>): bigint => time_ns / NS_PER_HOUR;

/** One JSON document a line, compressed as one frame of Zstandard. */
export async function encodeChunk({ lines, gaps }: ChunkContent): Promise<Buffer> {
  const records: string[] = [];
  let next = 0;
  const addGapsBefore = (seq: bigint | null): void => {
    for (; next < gaps.length && (seq === null || gaps[next]!.after_seq < seq); next += 1) {
      records.push(JSON.stringify({ gap: presentGap(gaps[next]!) }));
    }
  };
  for (const line of lines) {
    addGapsBefore(line.seq);
    records.push(JSON.stringify(presentLine(line)));
  }
  addGapsBefore(null);
  return compress(Buffer.from(`${records.join('\n')}\n`));
}
