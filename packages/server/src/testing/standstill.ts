import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setTimeout as pause } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { Worker } from 'node:worker_threads';
import { expect } from 'vitest';

/** The event loop of the platform stands still for at most so long, whatever one request brings. */
export const LONGEST_MS = 100;

/** Sends the bytes as they are, on so many connections at once, and tells the beginning of each answer. */
const SENDER = `
const { parentPort } = require('node:worker_threads');
const { connect } = require('node:net');
parentPort.on('message', ({ port, bytes, connections }) => {
  const answers = [];
  for (let n = 0; n < connections; n += 1) {
    let answer = '';
    const socket = connect(port, '127.0.0.1', () => socket.write(bytes));
    socket.setEncoding('latin1').setTimeout(120_000, () => socket.destroy());
    socket.on('error', () => {}).on('data', (part) => { if (answer.length < 4_096) answer += part; });
    socket.on('close', () => { if (answers.push(answer) === connections) parentPort.postMessage(answers); });
  }
});`;

export interface Attack {
  what: string;
  /** Where it is sent to: an address of the platform. */
  url: string;
  /** Made anew for each time. */
  bytes(): Buffer | Promise<Buffer>;
  /** At once; 1 if left out. */
  connections?: number;
}

export interface Attacker {
  /** Fails unless each attack is answered with one of these statuses, and the loop goes on meanwhile. */
  expectQuick(subject: string, answers: readonly number[], attacks: readonly Attack[], times?: number): Promise<void>;
  close(): Promise<unknown>;
}

/** Attacks from another thread: what it takes to send an attack is none of the platform's time. */
export function openAttacker(): Attacker {
  const sender = new Worker(SENDER, { eval: true });
  setFlagsFromString('--expose-gc');
  const collectGarbage = runInNewContext('gc') as () => void;

  const send = (url: string, bytes: Uint8Array<ArrayBuffer>, connections: number): Promise<string[]> =>
    new Promise((resolve) => {
      sender.once('message', resolve);
      sender.postMessage({ port: Number(new URL(url).port), bytes, connections }, [bytes.buffer]);
    });

  async function attackOnce({ url, bytes, connections = 1 }: Attack): Promise<{ statuses: number[]; ms: number }> {
    const sent = new Uint8Array(await bytes());
    // The garbage of this test would be collected during the attack.
    collectGarbage();
    const delays = monitorEventLoopDelay({ resolution: 1 });
    delays.enable();
    // The first tick only begins the count.
    await pause(20);
    const answers = await send(url, sent, connections);
    await pause(20);
    delays.disable();
    return {
      statuses: answers.map((answer) => Number(/^HTTP\/1\.1 (\d{3})/.exec(answer)?.[1] ?? 0)),
      ms: delays.max / 1e6,
    };
  }

  return {
    async expectQuick(subject, answers, attacks, times = 3) {
      const problems: string[] = [];
      for (const attack of attacks) {
        const found: Awaited<ReturnType<typeof attackOnce>>[] = [];
        for (let n = 0; n < times; n += 1) found.push(await attackOnce(attack));
        const statuses = [...new Set(found.flatMap((one) => one.statuses))];
        const stood = found.map(({ ms }) => ms).toSorted((a, b) => a - b);
        // One of them may have been held up by something else on this machine.
        const median = stood[Math.floor(times / 2)]!;
        const line = `${median.toFixed(1)} ms (${stood.map((ms) => ms.toFixed(1)).join(' ')}), ${statuses}: ${attack.what}`;
        console.log(`standstill, ${subject}: ${line}`);
        if (median > LONGEST_MS || statuses.some((status) => !answers.includes(status))) problems.push(line);
      }
      console.log(
        `standstill, ${subject}: n = ${attacks.length} attacks, each ${times} times, ${problems.length} not as they should`,
      );
      expect(problems).toEqual([]);
    },
    close: () => sender.terminate(),
  };
}

export interface Message {
  method?: string;
  target: string;
  headers: readonly (readonly [string, string])[];
  body?: string | Buffer;
}

/** A request as it is sent; headers in Latin-1, as they are read. */
export function requestBytes({ method = 'GET', target, headers, body = '' }: Message): Buffer {
  const bytes = Buffer.from(body);
  const isLengthSaid = bytes.length === 0 || headers.some(([name]) => name === 'content-length');
  const all = [...headers, ...(isLengthSaid ? [] : [['content-length', bytes.length]]), ['connection', 'close']];
  const head = all.map(([name, value]) => `${name}: ${value}\r\n`).join('');
  return Buffer.concat([Buffer.from(`${method} ${target} HTTP/1.1\r\n${head}\r\n`, 'latin1'), bytes]);
}
