import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { freePort } from '@stagi/contract/testing/freePort.ts';
import { afterEach, describe, expect, it } from 'vitest';
import { waitUntilReachable, waitUntilStable } from './reachability.ts';

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

describe('probing the platform', () => {
  it('resolves when the platform answers after it did not, whatever the answer', async () => {
    const origin = await open();
    await close();
    let isBack = false;
    const back = waitUntilReachable(origin, false, never()).then(() => {
      isBack = true;
    });
    await new Promise((resolve) => setImmediate(resolve));
    expect(isBack).toBe(false);
    await open();
    await back;
  });

  it('does not resolve while the platform was reachable all along', async () => {
    const origin = await open();
    const stop = new AbortController();
    let isBack = false;
    const back = waitUntilReachable(origin, false, stop.signal).then(() => {
      isBack = true;
    });
    await expect.poll(() => asked, { timeout: 60_000 }).toBeGreaterThan(1);
    expect(isBack).toBe(false);
    stop.abort();
    await back;
    await waitUntilReachable(origin, true, never());
  });

  it('takes the platform for stable after answers in a row, each over a new connection', async () => {
    const origin = await open();
    await waitUntilStable(origin, 2, never());
    expect(asked).toBe(2);
  });

  it('stops when the signal is aborted', async () => {
    const stop = new AbortController();
    stop.abort();
    await waitUntilStable('http://127.0.0.1:9', 2, stop.signal);
    await waitUntilReachable('http://127.0.0.1:9', true, stop.signal);
  });
});
