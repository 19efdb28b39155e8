import { randomUUID } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { API_PREFIX, type Call, type InputOf } from '@stagi/contract/call.ts';
import { expect } from 'vitest';
import type { Person } from './person.ts';

/** Whoever waits longer than this, while somebody else is greedy, was not served. */
export const PROMPT_MS = 2_000;

/** Fails unless it is done promptly; says how long it took. */
export async function promptly<T>(what: string, work: () => Promise<T>): Promise<T> {
  const begun = performance.now();
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(() => late.reject(new Error(`${what}: not served within ${PROMPT_MS} ms`)), PROMPT_MS);
  const done = work();
  // It may still fail after it was late.
  done.catch(() => {});
  try {
    const answer = await Promise.race([done, late.promise]);
    console.log(`greed: ${what} after ${Math.round(performance.now() - begun)} ms`);
    return answer;
  } finally {
    clearTimeout(timer);
  }
}

const SAMPLES_AT_REST = 10;

/** Waits until a number stays the same for a second, by default any: everybody who is let in is in. Answers it. */
export async function comesToRest(count: () => number, wanted?: number): Promise<number> {
  const seen: number[] = [];
  const isAtRest = (): boolean => {
    seen.push(count());
    const last = new Set(seen.slice(-SAMPLES_AT_REST));
    return seen.length >= SAMPLES_AT_REST && last.size === 1 && (wanted === undefined || last.has(wanted));
  };
  await expect.poll(isAtRest, { interval: 100 }).toBe(true);
  return seen.at(-1)!;
}

/** Ids of the processes that this one started, whose command line is like this and whose environment has this. */
export function childrenLike(pattern: RegExp, environment = ''): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .filter((pid) => {
      try {
        // The name in brackets may have spaces.
        const [, parent] = readFileSync(`/proc/${pid}/stat`, 'latin1')
          .replace(/^.*\) /s, '')
          .split(' ');
        if (Number(parent) !== process.pid) return false;
        const command = readFileSync(`/proc/${pid}/cmdline`, 'latin1').replaceAll('\0', ' ');
        return pattern.test(command) && readFileSync(`/proc/${pid}/environ`, 'latin1').includes(environment);
      } catch {
        // It has ended meanwhile.
        return false;
      }
    })
    .map(Number);
}

const ESTABLISHED = '01';

/** Connections to a port of this machine that neither end has closed: who reads nothing would not hear of it. */
export function establishedAt(port: number): number {
  const address = `:${port.toString(16).toUpperCase().padStart(4, '0')}`;
  return readFileSync('/proc/net/tcp', 'latin1')
    .split('\n')
    .map((line) => line.trim().split(/\s+/))
    .filter(([, local, , state]) => local?.endsWith(address) && state === ESTABLISHED).length;
}

/** A connection of somebody who does not do what clients do. */
export interface Wire {
  socket: Socket;
  /** The first answer's; null: none has come. */
  status(): number | null;
  /** Those of all answers so far. */
  statuses(): readonly number[];
  isOpen(): boolean;
  closed: Promise<void>;
  close(): void;
}

interface WireOptions {
  /** How it reads: everything, nothing after the beginning of the first answer, or a byte now and then. */
  reading?: 'all' | 'beginning' | 'slowly';
  /** It goes on to send this, a byte every `EVERY_MS`, until it is closed. */
  drips?: string | Buffer;
  /** Sends the same again after each answer. */
  again?: boolean;
  /** Its own address: all of 127.0.0.0/8 is this machine. */
  from?: string;
}

export const EVERY_MS = 300;

export const portOf = (url: string): number => Number(new URL(url).port);

/** Connects to a port of this machine and sends this; `drips` is sent again and again. */
export function openWire(
  port: number,
  sent: string | Buffer,
  { reading = 'all', drips, again = false, from }: WireOptions = {},
): Promise<Wire> {
  const statuses: number[] = [];
  const socket = connect({ port, host: '127.0.0.1', ...(from && { localAddress: from }) });
  const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()));
  const timers: NodeJS.Timeout[] = [];
  socket.on('error', () => {});
  const hear = (data: Buffer): void => {
    for (const [, status] of data.toString('latin1').matchAll(/HTTP\/1\.1 (\d{3}) /g)) {
      statuses.push(Number(status));
      if (again) socket.write(sent as string);
    }
    if (reading === 'all') return;
    socket.off('data', hear).pause();
    if (reading === 'slowly') timers.push(setInterval(() => socket.read(1), EVERY_MS));
  };
  socket.on('data', hear);
  const wire: Wire = {
    socket,
    status: () => statuses[0] ?? null,
    statuses: () => statuses,
    isOpen: () => socket.readyState !== 'closed' && !socket.destroyed,
    closed,
    close: () => socket.destroy(),
  };
  void closed.then(() => timers.forEach(clearInterval));
  return new Promise((resolve) => {
    // A connection that is not let in is closed at once.
    void closed.then(() => resolve(wire));
    socket.once('connect', () => {
      if (sent.length > 0) socket.write(sent as string, () => resolve(wire));
      else resolve(wire);
      if (drips !== undefined) timers.push(drip(socket, Buffer.from(drips as string, 'latin1')));
    });
  });
}

/** Sends the bytes one by one, and again from the first. */
function drip(socket: Socket, bytes: Buffer): NodeJS.Timeout {
  let at = 0;
  return setInterval(() => {
    socket.write(bytes.subarray(at, at + 1));
    at = (at + 1) % bytes.length;
  }, EVERY_MS);
}

/** The head of a request. */
export const headOf = (
  method: string,
  target: string,
  headers: Readonly<Record<string, string | number>> = {},
): string => {
  const lines = Object.entries({ host: '127.0.0.1', ...headers }).map(([name, value]) => `${name}: ${value}\r\n`);
  return `${method} ${target} HTTP/1.1\r\n${lines.join('')}\r\n`;
};

/** So many at once. */
export const times = <T>(count: number, make: (n: number) => Promise<T>): Promise<T[]> =>
  Promise.all(Array.from({ length: count }, (_, n) => make(n)));

type Headers = Readonly<Record<string, string | number>>;

/** Who calls: a person in a workspace, or an API token. */
export const as = (person: Person, workspaceId = person.workspaceId): Headers => ({
  authorization: `Bearer ${person.tokens().accessToken}`,
  'x-client-id': workspaceId,
});
export const asToken = (token: string): Headers => ({ authorization: `Bearer ${token}` });

/** A call as it is sent. */
export function bytesOfCall<C extends Call>({ path }: C, input: InputOf<C>, headers: Headers = {}): string {
  const body = JSON.stringify(input);
  const head = headOf('POST', API_PREFIX + path, {
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(body),
    'idempotency-key': randomUUID(),
    ...headers,
  });
  return head + body;
}
