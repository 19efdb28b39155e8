import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { freePort } from '@stagi/contract/testing/freePort.ts';
import { afterEach, describe, expect, it } from 'vitest';
import { untilBack, untilSteady } from './reach.ts';

let server: Server | null = null;
let asked = 0;
const port = await freePort();

async function open(): Promise<string> {
  server = createServer((_request, response) => {
    asked += 1;
    response.writeHead(404).end();
  });
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  return `http://127.0.0.1:${port}`;
}
async function close(): Promise<void> {
  if (!server) return;
  const closed = once(server, 'close');
  server.close();
  server = null;
  await closed;
}
afterEach(async () => {
  await close();
  asked = 0;
});
const never = () => new AbortController().signal;

describe('whether the platform answers', () => {
  it('is news after it did not, whatever it answers', async () => {
    const origin = await open();
    await close();
    let isBack = false;
    const back = untilBack(origin, false, never()).then(() => {
      isBack = true;
    });
    await new Promise((resolve) => setImmediate(resolve));
    expect(isBack).toBe(false);
    await open();
    await back;
  });

  it('is no news while it always did', async () => {
    const origin = await open();
    const stop = new AbortController();
    let isBack = false;
    const back = untilBack(origin, false, stop.signal).then(() => {
      isBack = true;
    });
    await expect.poll(() => asked, { timeout: 20_000 }).toBeGreaterThan(1);
    expect(isBack).toBe(false);
    stop.abort();
    await back;
    await untilBack(origin, true, never());
  });

  it('counts as steady after answers in a row, each asked for anew', async () => {
    const origin = await open();
    await untilSteady(origin, 2, never());
    expect(asked).toBe(2);
  });

  it('is not asked for any more when nobody wants to know', async () => {
    const stop = new AbortController();
    stop.abort();
    await untilSteady('http://127.0.0.1:9', 2, stop.signal);
    await untilBack('http://127.0.0.1:9', true, stop.signal);
  });
});
