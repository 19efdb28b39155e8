import { FRAME, terminalFrames } from '@stagi/contract/terminalFrames.ts';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { type Opening, openStream, terminalPath, ticketFor } from '../sessions/testing/openings.ts';
import { startTestApp, type TestApp } from '../testing/app.ts';
import { as, promptly } from '../testing/greed.ts';
import type { Person } from '../testing/person.ts';
import { joinSilentDaemon, type SilentDaemon } from '../volumeFiles/testing/silentDaemon.ts';

/** So much may be typed before the daemon has opened the terminal. */
const KEPT_BYTES = 64 * 1024;
const TOO_BIG = 1009;

let app: TestApp;
let owner: Person;
/** It does not come for what the platform asks. */
let deaf: SilentDaemon;
beforeAll(async () => {
  app = await startTestApp({}, { role: 'api' });
  owner = await app.signUp();
  deaf = await joinSilentDaemon(app, owner, { isDeaf: true });
});
afterAll(async () => {
  await deaf?.close();
  await app?.close();
});

async function aTerminal(containerId: number): Promise<Opening> {
  const terminal = await openStream(app, terminalPath(containerId), await ticketFor(app, as(owner)));
  expect(terminal.status).toBe(101);
  onTestFinished(() => terminal.socket.terminate());
  return terminal;
}

const bytes = (length: number): Buffer => Buffer.alloc(length, 'x');

describe('what is typed before the terminal is open is bounded:', () => {
  const INPUTS: [what: string, messages: () => Buffer[]][] = [
    ['one message of a byte too much', () => [bytes(KEPT_BYTES + 1)]],
    ['one message of almost a megabyte', () => [bytes(1_000_000)]],
    ['two messages', () => [bytes(40_000), bytes(40_000)]],
    ['the last byte is too much', () => [bytes(KEPT_BYTES), bytes(1)]],
    ['messages of a kilobyte', () => Array.from({ length: 65 }, () => bytes(1_024))],
    ['900 messages of a hundred kilobytes', () => Array.from({ length: 900 }, () => bytes(100_000))],
    ['single bytes', () => Array.from({ length: KEPT_BYTES + 1 }, () => bytes(1))],
  ];
  it.each(INPUTS)('%s', async (_, messages) => {
    const terminal = await aTerminal(deaf.containerId);
    for (const message of messages()) terminal.socket.send(message);
    await promptly('the end of it', () => expect.poll(terminal.code, { interval: 20 }).toBe(TOO_BIG));
  });

  it('messages of nothing', async () => {
    const terminal = await aTerminal(deaf.containerId);
    for (let n = 0; n < 100_000; n += 1) terminal.socket.send(bytes(0));
    // Each takes room, though it has no byte.
    await promptly('the end of it', () => expect.poll(terminal.code, { interval: 20 }).toBeOneOf([1008, TOO_BIG]));
  });

  it('and the platform still opens terminals', async () => {
    const terminal = await aTerminal(deaf.containerId);
    expect(terminal.code()).toBeNull();
  });
});

describe('what may be typed before', () => {
  it.each([1, 64, 900])('arrives whole and in order, in %i messages', async (count) => {
    const daemon = await joinSilentDaemon(app, owner, { isDeaf: true });
    onTestFinished(() => daemon.close());
    const arrived: Buffer[] = [];
    daemon.answer = (stream) => {
      const frames = terminalFrames();
      stream.respond({ ':status': 200 });
      stream.on('data', (data: Buffer) => {
        for (const { kind, payload } of frames.take(data)) if (kind === FRAME.input) arrived.push(Buffer.from(payload));
      });
    };
    const terminal = await aTerminal(daemon.containerId);
    const typed = Buffer.from(Array.from({ length: KEPT_BYTES }, (_, n) => n % 251));
    const length = Math.ceil(KEPT_BYTES / count);
    for (let at = 0; at < KEPT_BYTES; at += length) terminal.socket.send(typed.subarray(at, at + length));
    // A question of its own, so that all before it has come.
    const answered = new Promise((resolve) => terminal.socket.once('pong', resolve));
    terminal.socket.ping();
    await answered;
    daemon.wakeUp();
    await expect.poll(() => Buffer.concat(arrived).length).toBe(KEPT_BYTES);
    expect(Buffer.concat(arrived).equals(typed)).toBe(true);
    expect(terminal.code()).toBeNull();
  });

  it('is not all that may be typed: then it goes on', async () => {
    const daemon = await joinSilentDaemon(app, owner);
    onTestFinished(() => daemon.close());
    let arrived = 0;
    daemon.answer = (stream) => {
      stream.respond({ ':status': 200 });
      stream.on('data', (data: Buffer) => {
        arrived += data.length;
      });
    };
    const terminal = await aTerminal(daemon.containerId);
    terminal.socket.send(bytes(1));
    await expect.poll(() => arrived).toBeGreaterThan(0);
    for (let n = 0; n < 20; n += 1) terminal.socket.send(bytes(50_000));
    await expect.poll(() => arrived).toBeGreaterThan(20 * 50_000);
    expect(terminal.code()).toBeNull();
  });
});
