import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { type IncomingMessage, request, type ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { TestApp } from '@stagi/server/src/testing/app.ts';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type PortLab, portOf, startPortLab } from './portLab.ts';

const MB = 1024 * 1024;

let lab: PortLab;
let app: TestApp;
let host: string;
/** What the program in the container does with a request. */
let program: (asked: IncomingMessage, answer: ServerResponse) => void;

beforeAll(async () => {
  lab = await startPortLab((asked, answer) => program(asked, answer));
  ({ app, host } = lab);
  lab.bind(portOf(lab.service));
});
afterAll(() => lab?.close());

const byToken = () => ({ 'x-stagi-token': lab.token });

it('moves 500 MB both ways in bounded memory', async () => {
  const chunk = randomBytes(MB);
  const total = 500;
  let received = 0;
  program = (asked, answer) => {
    if (asked.method === 'GET') return void Readable.from(chunks(chunk, total)).pipe(answer);
    asked.on('data', (data: Buffer) => {
      received += data.length;
    });
    asked.on('end', () => answer.end('done'));
  };
  global.gc?.();
  const before = process.memoryUsage().rss;
  let peak = before;
  const timer = setInterval(() => {
    peak = Math.max(peak, process.memoryUsage().rss);
  }, 20);
  const to = { host: '127.0.0.1', port: Number(new URL(app.url).port) };
  const up = request({ ...to, method: 'PUT', headers: { host, ...byToken() } });
  const uploaded = once(up, 'response');
  let begun = performance.now();
  await pipeline(Readable.from(chunks(chunk, total)), up);
  const [stored] = (await uploaded) as [IncomingMessage];
  stored.resume();
  await once(stored, 'end');
  const upSeconds = (performance.now() - begun) / 1000;
  expect(received).toBe(total * MB);

  begun = performance.now();
  const down = request({ ...to, headers: { host, ...byToken() } });
  down.end();
  const [answer] = (await once(down, 'response')) as [IncomingMessage];
  let got = 0;
  for await (const part of answer) got += (part as Buffer).length;
  const downSeconds = (performance.now() - begun) / 1000;
  clearInterval(timer);
  console.log(
    `ports: ${total} MB up at ${(total / upSeconds).toFixed(0)} MB/s, down at ${(total / downSeconds).toFixed(0)} MB/s, memory ${((peak - before) / MB).toFixed(0)} MB more at most`,
  );
  expect(got).toBe(total * MB);
  expect(peak - before).toBeLessThan((total / 2) * MB);
});

function* chunks(chunk: Buffer, count: number): Generator<Buffer> {
  for (let index = 0; index < count; index += 1) yield chunk;
}
