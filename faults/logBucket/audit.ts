import { zstdDecompressSync } from 'node:zlib';
import { readObjects } from '@stagi/server/src/logBucket/testing/readBucket.ts';
import { type Log, textOf } from './shipLogs.ts';

/** Counts how often each line is in the bucket. */
export async function countRecords(
  bucket: Parameters<typeof readObjects>[0],
  storageId: number,
  logs: readonly Log[],
): Promise<{ chunks: number; missing: number; duplicate: number; wrong: number }> {
  const seen = new Map(logs.map(({ containerId, lines }) => [containerId, new Uint8Array(lines + 1)]));
  let [chunks, wrong] = [0, 0];
  for await (const { body } of readObjects(bucket, storageId)) {
    chunks += 1;
    for (const record of zstdDecompressSync(body).toString().trimEnd().split('\n')) {
      const { seq, stream, text } = JSON.parse(record) as { seq: number; stream: string; text: string };
      const containerId = Number(text.split(' ')[1]);
      const counts = seen.get(containerId);
      const isWhole = text === textOf(containerId, seq) && stream === (seq % 7 === 0 ? 'stderr' : 'stdout');
      if (!counts || !isWhole) wrong += 1;
      else counts[seq] = Math.min(255, counts[seq]! + 1);
    }
  }
  let [missing, duplicate] = [0, 0];
  for (const { containerId, lines } of logs) {
    const counts = seen.get(containerId)!;
    for (let seq = 1; seq <= lines; seq += 1) {
      if (counts[seq] === 0) missing += 1;
      else duplicate += counts[seq]! - 1;
    }
  }
  return { chunks, missing, duplicate, wrong };
}
