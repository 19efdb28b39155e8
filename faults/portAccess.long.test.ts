import { afterAll, beforeAll, expect, it } from 'vitest';
import { closePublicPort, setVisibility, takeRightsToPort } from './closedPorts.ts';
import { visitPort } from './portVisitor.ts';
import { type PrivatePort, startPrivatePort } from './privatePort.ts';
import { until } from './until.ts';

const CLOSED_WITHIN_MS = 2_000;

let port: PrivatePort;
beforeAll(async () => {
  port = await startPrivatePort();
});
afterAll(() => port?.close());

it('ends open WebSockets within 2 s of a removal', async () => {
  const waits = await takeRightsToPort(port);
  const most = Math.max(...waits);
  console.log(`ports: WebSockets end ${most.toFixed(0)} ms after a removal at most (n = ${waits.length})`);
  expect(waits.length).toBeGreaterThanOrEqual(3);
  expect(most).toBeLessThan(CLOSED_WITHIN_MS);
});

it('ends open WebSockets of a public port within 2 s once it is private', async () => {
  const waits: number[] = [];
  for (let n = 0; n < 3; n += 1) {
    await setVisibility(port, 'public');
    await until('it is open', async () => (await visitPort(port.app, port.host)).status === 200);
    waits.push(await closePublicPort(port));
  }
  const most = Math.max(...waits);
  console.log(`ports: WebSockets end ${most.toFixed(0)} ms after a port is private at most (n = ${waits.length})`);
  expect(most).toBeLessThan(CLOSED_WITHIN_MS);
});
