import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { Readable } from 'node:stream';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type StreamLab, startStreamLab } from './streamLab.ts';

const MB = 1024 * 1024;

let lab: StreamLab;
beforeAll(async () => {
  lab = await startStreamLab();
});
afterAll(() => lab?.close());

it('echoes 1 GB beside the link, in bounded memory, and keeps the link quick', async () => {
  const stream = await lab.open({ kind: 'echo' });
  const chunk = randomBytes(MB);
  const total = 1024;
  const [sent, got] = [createHash('sha256'), createHash('sha256')];
  async function* source() {
    for (let n = 0; n < total; n += 1) {
      sent.update(chunk);
      yield chunk;
    }
  }
  let peak = 0;
  let done = false;
  const latencies: number[] = [];
  const watch = (async () => {
    while (!done) {
      peak = Math.max(peak, process.memoryUsage().rss);
      const begun = performance.now();
      lab.daemon.socket.ping();
      await once(lab.daemon.socket, 'pong');
      latencies.push(performance.now() - begun);
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  })();
  const begun = performance.now();
  const before = process.memoryUsage().rss;
  Readable.from(source()).pipe(stream);
  let bytes = 0;
  for await (const part of stream) {
    got.update(part as Buffer);
    bytes += (part as Buffer).length;
  }
  done = true;
  await watch;
  const seconds = (performance.now() - begun) / 1000;
  latencies.sort((a, b) => a - b);
  const p95 = latencies[Math.floor(latencies.length * 0.95)]!;
  console.log(
    `streams: ${bytes / MB} MB echoed at ${(bytes / MB / seconds).toFixed(0)} MB/s, memory ${((peak - before) / MB).toFixed(0)} MB more at most, link answers p95 ${p95.toFixed(1)} ms (n = ${latencies.length})`,
  );
  expect(bytes).toBe(total * MB);
  expect(got.digest('hex')).toBe(sent.digest('hex'));
  expect(peak - before).toBeLessThan(400 * MB);
  expect(latencies.length).toBeGreaterThan(0);
});
