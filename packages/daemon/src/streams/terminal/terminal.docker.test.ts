import { randomUUID } from 'node:crypto';
import { copyFile, mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Duplex } from 'node:stream';
import { StreamTarget } from '@stagi/contract/daemonStreams.ts';
import type { DesiredContainer } from '@stagi/contract/desiredState.ts';
import { socketPair } from '@stagi/contract/socketPair.ts';
import { encodeTerminalFrame, encodeTerminalJson, FRAME, terminalFrames } from '@stagi/contract/terminalFrames.ts';
import { TERMINAL_KEPT_BYTES, TERMINALS_MAX, TerminalEvent } from '@stagi/contract/terminals.ts';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { DesiredStore } from '../../desiredState.ts';
import { connectDocker } from '../../docker.ts';
import { execEngine } from '../../dockerExec.ts';
import { docker, ensureTestImage, TEST_IMAGE } from '../../testing/image.ts';
import { terminalStreams } from './terminalStreams.ts';
import { openTerminals, type Terminals } from './terminals.ts';

const ADA = 1;
const BOB = 2;
const WAIT_MS = 60_000;
/** Far more than fits between a program and its reader. */
const OUTPUT = 16_000_000;
/** What a viewer of these tests remembers. */
const KEPT = 100_000;

type Target = Extract<StreamTarget, { kind: 'terminal' }>;

// On a busy machine Docker may take longer to run a program than people are to wait for it.
const engine = { ...connectDocker({ platform: 'test', node: '1' }), ...execEngine(docker, WAIT_MS) };
const made: string[] = [];
let folder: string;
let terminals: Terminals;
let elapsed = 0;
let containers: DesiredContainer[] = [];
const dockerIds = new Map<number, string>();

async function aContainer(id: number, image = TEST_IMAGE): Promise<string> {
  const one = await docker.createContainer({ Image: image, Cmd: ['sleep', '1000'], Labels: { 'stagi.test': folder } });
  made.push(one.id);
  await one.start();
  dockerIds.set(id, one.id);
  containers = [...containers, { id, state: 'running' } as DesiredContainer];
  return one.id;
}

const recordsAt = () => join(folder, 'terminals.json');
const open = (records = recordsAt()) => openTerminals(engine, records, () => elapsed);

beforeAll(async () => {
  await ensureTestImage();
  folder = await mkdtemp(join(tmpdir(), 'stagi-terminals-'));
  await aContainer(7);
  await aContainer(8);
});
beforeEach(async () => {
  elapsed = 0;
  terminals = await open();
});
afterEach(() => terminals.close());
afterAll(async () => {
  for (const id of made) await docker.getContainer(id).remove({ force: true });
  await rm(folder, { recursive: true });
});

/** A viewer of a terminal, as the platform is one. */
interface Viewer {
  stream: Duplex;
  events: TerminalEvent[];
  output(): string;
  bytes(): number;
  type(input: string): void;
  resize(size: object): void;
  until(what: string, check: () => unknown): Promise<void>;
  exit(): Promise<Extract<TerminalEvent, { type: 'exit' }>>;
  leave(): void;
}

const targetOf = (change: Partial<Target> = {}): Target =>
  ({
    kind: 'terminal',
    session: randomUUID(),
    user: ADA,
    at: { container: 7 },
    shell: null,
    cols: 80,
    rows: 24,
    offset: null,
    ...change,
  }) as Target;

async function view(target: Target, { policy = { hostTerminal: false }, of = terminals } = {}): Promise<Viewer> {
  const handler = terminalStreams({
    engine,
    desired: { current: () => ({ containers }) } as unknown as DesiredStore,
    terminals: of,
    policy: async () => policy,
    dockerIdOf: async (id) => dockerIds.get(id) ?? null,
  });
  const [stream, far] = await socketPair();
  await handler(StreamTarget.parse(target) as Target, () => far.resume());
  stream.on('end', () => stream.destroy());
  const frames = terminalFrames();
  const events: TerminalEvent[] = [];
  let output = '';
  let bytes = 0;
  const waiters = new Set<() => void>();
  stream.on('data', (data: Buffer) => {
    for (const { kind, payload } of frames.take(data)) {
      if (kind === FRAME.output) {
        output = (output + Buffer.from(payload).toString('latin1')).slice(-KEPT);
        bytes += payload.length;
      } else events.push(TerminalEvent.parse(JSON.parse(Buffer.from(payload).toString())));
    }
    for (const look of waiters) look();
  });
  const viewer: Viewer = {
    stream,
    events,
    output: () => Buffer.from(output, 'latin1').toString('utf8'),
    bytes: () => bytes,
    type: (input) => void stream.write(encodeTerminalFrame(FRAME.input, Buffer.from(input))),
    resize: (size) => void stream.write(encodeTerminalJson(FRAME.resize, size)),
    until(what, check) {
      const { promise, resolve, reject } = Promise.withResolvers<void>();
      const look = (): void => {
        if (check()) resolve();
      };
      const timer = setTimeout(
        () => reject(new Error(`waited in vain: ${what}; output: ${JSON.stringify(viewer.output().slice(-300))}`)),
        WAIT_MS,
      );
      waiters.add(look);
      look();
      return promise.finally(() => {
        clearTimeout(timer);
        waiters.delete(look);
      });
    },
    async exit() {
      const ended = () => events.find((event) => event.type === 'exit');
      await viewer.until('its end', ended);
      return ended()!;
    },
    leave: () => void stream.destroy(),
  };
  await viewer.until('its first event', () => events.length > 0);
  return viewer;
}

const printed = (viewer: Viewer, text: string) => viewer.until(`“${text}”`, () => viewer.output().includes(text));

/** How many processes of a container there are besides its own. */
const strays = async (id: number): Promise<number> => (await startedIn(id)).length;

/** What the busiest of them has written, in bytes. */
async function writtenIn(id: number): Promise<number> {
  const written = (await startedIn(id)).map(async (pid) => {
    const io = await readFile(`/proc/${pid}/io`, 'utf8').catch(() => '');
    return Number(/^wchar: (\d+)$/m.exec(io)?.[1] ?? 0);
  });
  return Math.max(0, ...(await Promise.all(written)));
}

async function startedIn(id: number): Promise<string[]> {
  const dockerId = dockerIds.get(id)!;
  const { State } = await docker.getContainer(dockerId).inspect();
  const found: string[] = [];
  for (const pid of (await readdir('/proc')).filter((name) => /^\d+$/.test(name))) {
    const cgroup = await readFile(`/proc/${pid}/cgroup`, 'utf8').catch(() => '');
    const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => 'State:\tZ');
    if (cgroup.includes(dockerId) && Number(pid) !== State.Pid && !/^State:\tZ/m.test(status)) found.push(pid);
  }
  return found;
}

describe('a terminal in a container', () => {
  it('runs a shell: input, output, UTF-8, size, exit code', async () => {
    const ada = await view(targetOf({ cols: 100, rows: 30 }));
    expect(ada.events[0]).toEqual({ type: 'opened', shell: 'sh' });
    ada.type('echo $((6*7)) 日本語 🚀 $TERM\n');
    await printed(ada, '42 日本語 🚀 xterm-256color');
    ada.type('busybox stty size\n');
    await printed(ada, '30 100');
    ada.resize({ cols: 132, rows: 43 });
    await ada.until('the new size', () => {
      ada.type('busybox stty size\n');
      return ada.output().includes('43 132');
    });
    ada.type('exit 3\n');
    expect(await ada.exit()).toEqual({ type: 'exit', code: 3, reason: null });
  });

  it('is resumed by the same person at the byte where they left', async () => {
    const target = targetOf();
    const before = await view(target);
    before.type('echo be""fore\n');
    await printed(before, '\nbefore');
    const seen = before.bytes();
    before.type('(busybox sleep 0.3; echo mean""while) &\n');
    before.leave();
    const after = await view({ ...target, offset: seen });
    const [resumed] = after.events;
    if (resumed?.type !== 'resumed') throw new Error('not resumed');
    expect(resumed).toMatchObject({ offset: seen, dropped: 0 });
    // What was typed last may have been shown before they left.
    expect(resumed.answered).toBeGreaterThanOrEqual(seen);
    await printed(after, 'meanwhile');
    expect(after.output()).not.toContain('\nbefore');
    await expect(view({ ...target, user: BOB, offset: 0 })).rejects.toMatchObject({ status: 403 });
    await expect(view({ ...target, user: BOB })).rejects.toMatchObject({ status: 403 });
    await expect(view({ ...target, at: { container: 8 }, offset: 0 })).rejects.toMatchObject({ status: 404 });
    expect(after.stream.destroyed).toBe(false);
  });

  it('says how much output was lost to whoever comes back late', async () => {
    const target = targetOf();
    const before = await view(target);
    before.type('echo rea""dy\n');
    await printed(before, '\nready');
    // A viewer that leaves at once may take a typed line along.
    before.type('echo wai""ting; read go; busybox yes 0123456789abcdef | busybox head -c 3000000; echo; echo do""ne\n');
    await printed(before, '\nwaiting');
    const seen = before.bytes();
    before.leave();
    let after = await view({ ...target, offset: seen });
    after.type('\n');
    await printed(after, '\ndone');
    after.leave();
    after = await view({ ...target, offset: seen });
    await printed(after, '\ndone');
    const [resumed] = after.events;
    if (resumed?.type !== 'resumed') throw new Error('not resumed');
    expect(resumed.dropped).toBeGreaterThan(1_500_000);
    expect(resumed.offset).toBe(seen + resumed.dropped);
    expect(after.bytes()).toBeGreaterThanOrEqual(TERMINAL_KEPT_BYTES);
  });

  it('ends when nobody has looked at it for two minutes, and leaves nothing', async () => {
    const target = targetOf();
    const ada = await view(target);
    ada.type('busybox sleep 500 &\n');
    ada.type('busybox sleep 500\n');
    await printed(ada, 'sleep 500\r\n');
    elapsed += 600_000;
    await terminals.sweep();
    expect(await strays(7)).toBeGreaterThan(0);
    ada.leave();
    await ada.until('it is left', () => ada.stream.closed);
    elapsed += 119_000;
    await terminals.sweep();
    expect(await strays(7)).toBeGreaterThan(0);
    const back = await view({ ...target, offset: 0 });
    expect(back.events[0]).toMatchObject({ type: 'resumed' });
    back.leave();
    await new Promise((resolve) => back.stream.once('close', resolve));
    // The daemon hears of it a moment later.
    await expect
      .poll(
        async () => {
          elapsed += 121_000;
          await terminals.sweep();
          return strays(7);
        },
        { timeout: WAIT_MS },
      )
      .toBe(0);
    await expect(view({ ...target, offset: 0 })).rejects.toMatchObject({ status: 404 });
  });

  it('closes when its viewer says so, with what runs in it', async () => {
    const ada = await view(targetOf());
    ada.type('busybox sleep 500 & busybox sleep 500\n');
    await printed(ada, 'sleep 500\r\n');
    ada.stream.write(encodeTerminalFrame(FRAME.close));
    expect(await ada.exit()).toMatchObject({ type: 'exit' });
    // A killed process is in the list until the kernel has ended it.
    await expect.poll(() => strays(7), { timeout: WAIT_MS }).toBe(0);
  });

  it('leaves no process behind when the daemon dies, whatever it was at', async () => {
    let left = 0;
    for (let n = 0; n < 5; n += 1) {
      const ada = await view(targetOf());
      ada.type('trap "" HUP TERM; busybox sleep 500 & busybox sleep 500\n');
      await printed(ada, 'sleep 500\r\n');
    }
    expect(await strays(7)).toBeGreaterThanOrEqual(5);
    // As after a crash: another daemon has the records alone.
    const records = join(folder, 'of a dead daemon.json');
    await copyFile(recordsAt(), records);
    const next = await open(records);
    left += await strays(7);
    console.log(`terminals after a crash of the daemon: n = 5 shells, ${left} processes left`);
    expect(left).toBe(0);
    await next.close();
  });

  it('tells a reader the end that came while nobody looked', async () => {
    const target = targetOf();
    const ada = await view(target);
    ada.type('echo re""ady; exit 7\n');
    await ada.exit();
    const back = await view({ ...target, offset: ada.bytes() });
    expect(await back.exit()).toEqual({ type: 'exit', code: 7, reason: null });
  });

  it('waits for a reader that stands still, in bounded memory', async () => {
    const ada = await view(targetOf());
    ada.type('echo rea""dy\n');
    await printed(ada, '\nready');
    ada.stream.pause();
    ada.type(`busybox yes 0123456789abcdef | busybox head -c ${OUTPUT}; echo; echo do""ne\n`);
    const looks: number[] = [];
    const standsStill = async () => {
      looks.push(await writtenIn(7));
      const last = looks.slice(-5);
      return last.length === 5 && last[0]! > 0 && last.every((bytes) => bytes === last[0]);
    };
    await expect.poll(standsStill, { timeout: WAIT_MS, interval: 100 }).toBe(true);
    console.log(`a terminal whose reader stands still: ${looks.at(-1)} bytes are on their way`);
    expect(looks.at(-1)).toBeLessThan(OUTPUT / 4);
    ada.stream.resume();
    await ada.until('all of it', () => ada.bytes() > OUTPUT);
    await printed(ada, '\ndone');
  });

  it('refuses what it must, with the reason', async () => {
    containers.push({ id: 20, state: 'running', task: {} } as DesiredContainer);
    containers.push({ id: 21, state: 'stopped' } as DesiredContainer);
    containers.push({ id: 22, state: 'absent' } as DesiredContainer);
    containers.push({ id: 23, state: 'running' } as DesiredContainer);
    const cases: [string, Partial<Target>, number, string][] = [
      ['a container that is not here', { at: { container: 99 } }, 404, 'There is no such container on this server'],
      ['the run of a task', { at: { container: 20 } }, 404, 'There is no such container on this server'],
      ['a stopped container', { at: { container: 21 } }, 409, 'The container is not running'],
      ['a removed container', { at: { container: 22 } }, 404, 'There is no such container on this server'],
      ['a container that Docker lacks', { at: { container: 23 } }, 409, 'The container is not running'],
      ['a shell that the image lacks', { shell: 'fish' }, 409, 'This image has no fish'],
      ['the server itself', { at: { host: true } }, 403, 'The policy of this server does not allow a terminal on it'],
      ['a session that never was', { offset: 0 }, 404, 'This terminal has ended'],
    ];
    for (const [what, change, status, message] of cases)
      await expect(view(targetOf(change)), what).rejects.toMatchObject({ status, message });
    for (let n = 0; n < TERMINALS_MAX.ofContainer; n += 1) await view(targetOf());
    await expect(view(targetOf())).rejects.toMatchObject({ status: 429 });
    await view(targetOf({ at: { container: 8 } }));
  });

  it('closes on bad frames', async () => {
    const bad: [string, Uint8Array][] = [
      ['an unknown kind', encodeTerminalFrame(9, Buffer.from('x'))],
      ['output to the daemon', encodeTerminalFrame(FRAME.output, Buffer.from('x'))],
      ['a huge length', Uint8Array.from([1, 255, 255, 255, 255])],
      ['no JSON', encodeTerminalFrame(FRAME.resize, Buffer.from('{'))],
      ...[
        { cols: 0, rows: 10 },
        { cols: 1e9, rows: 10 },
        { cols: 80, rows: -1 },
        { cols: 80.5, rows: 24 },
        { cols: '80', rows: 24 },
        { rows: 24 },
        null,
        [],
      ].map((size): [string, Uint8Array] => [
        `the size ${JSON.stringify(size)}`,
        encodeTerminalJson(FRAME.resize, size),
      ]),
    ];
    const target = targetOf();
    await view(target);
    for (const [what, frame] of bad) {
      const viewer = await view({ ...target, offset: 0 });
      const closed = new Promise((resolve) => viewer.stream.once('close', resolve));
      viewer.stream.write(frame);
      await closed;
      expect(viewer.stream.destroyed, what).toBe(true);
    }
    console.log(`terminals: n = ${bad.length} bad frames, each closed its stream`);
  });
});
