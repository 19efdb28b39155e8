import { createHash } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import type { ActualContainer, ActualTask, DaemonMessage, DesiredContainer } from '@stagi/contract/daemon.ts';
import * as transfer from '@stagi/contract/taskTransfer.ts';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createDaemon, slugOf, type TestDaemon } from './testing/daemon.ts';
import { docker, ensureTestImage } from './testing/image.ts';
import { type FakePlatform, startFakePlatform } from './testing/platform.ts';
import { SIGNATURE, type StoredTask, tarOf, taskContainer } from './testing/taskStore.ts';

const FOREVER = 'trap "exit 0" TERM; while :; do sleep 0.1; done';
const LARGE_BYTES = transfer.TASK_PUT_MAX_BYTES + 5_000_000;

let platform: FakePlatform;
let daemon: TestDaemon;
let ids = 0;
const wishes = new Map<number, DesiredContainer>();

beforeAll(async () => {
  await ensureTestImage();
  platform = await startFakePlatform({ node: String(7_000_000 + (process.pid % 100_000)) });
  daemon = await createDaemon(platform);
  await connect();
});
afterAll(async () => {
  await daemon?.cleanUp();
  await platform?.close();
});

/** Starts the daemon and waits for its hello. */
async function connect(): Promise<void> {
  const links = platform.received.filter(({ type }) => type === 'hello').length;
  daemon.start();
  await platform.until('a hello', () => platform.received.filter(({ type }) => type === 'hello').length > links);
}

async function wish(...targets: DesiredContainer[]): Promise<void> {
  for (const target of targets) wishes.set(target.id, target);
  await platform.setDesired([...wishes.values()]);
}

type Options = Parameters<typeof taskContainer>[2] & Parameters<FakePlatform['tasks']['add']>[0];

/** A run whose files are in the store. */
function run(line: string, { source, input, ...more }: Options = {}) {
  const store = platform.tasks.add({ ...(source ? { source } : {}), ...(input ? { input } : {}) });
  ids += 1;
  return { id: ids, store, target: taskContainer(ids, line, { token: store.token, ...more }) };
}

const shown = (id: number): ActualContainer | undefined =>
  platform.inventory()?.containers.find((one) => one.id === id);
const until = (id: number, what: string, check: (seen: ActualContainer, task: ActualTask) => unknown) =>
  platform.until(`container ${id}: ${what}`, () => {
    const seen = shown(id);
    return seen?.task && check(seen, seen.task) ? { ...seen, task: seen.task } : null;
  });
const settled = (id: number) => until(id, 'its output is settled', (_, { phase }) => /saved$/.test(phase));
const inState = (id: number, state: ActualContainer['state']) => until(id, state, (seen) => seen.state === state);
const inspect = (id: number) => docker.getContainer(`stagi-${slugOf(id)}`).inspect();
const text = (store: StoredTask, path: string) => store.output.get(path)?.toString();
const failure = (id: number) =>
  platform.until(`container ${id} fails`, () =>
    platform.received.find(
      (message): message is Extract<DaemonMessage, { type: 'failed' }> =>
        message.type === 'failed' && message.containerId === id,
    ),
  );

/** How often Docker has started a container of a run. */
async function starts(id: number): Promise<number> {
  const now = Math.floor(Date.now() / 1000) + 1;
  const filters = { container: [`stagi-${slugOf(id)}`], event: ['start'] };
  const events = await docker.getEvents({ since: now - 600, until: now, filters });
  return (await buffer(events)).toString().split('\n').filter(Boolean).length;
}

/** Changes what the stopped daemon has recorded of a run. */
async function editRecord(id: number, change: object): Promise<void> {
  const path = join(daemon.folder, 'state/containers.json');
  const records = JSON.parse(await readFile(path, 'utf8'));
  Object.assign(records[id].task, change);
  await writeFile(path, JSON.stringify(records));
}

describe('the run of a task', () => {
  it('gets its files, runs in the directory of the code, and has its output uploaded', async () => {
    const deep = `${'deep/'.repeat(30)}ü.txt`;
    const source = await tarOf([
      { name: 'sub/' },
      { name: 'sub/tool.sh', mode: 0o775, content: '#!/bin/sh\necho tool\n' },
      { name: 'plain.txt', content: 'plain\n' },
      { name: 'link', link: 'plain.txt' },
    ]);
    const input: [string, Buffer][] = [
      ['a.bin', Buffer.alloc(2_500_000, 'a')],
      ['empty', Buffer.alloc(0)],
      ['b/c.txt', Buffer.from('c')],
      ['b/d.txt', Buffer.from('d')],
      [deep, Buffer.from('deep')],
    ];
    const { id, target, store } = run(
      [
        'cat link; sub/tool.sh; /bin/busybox pwd; cat /data/in/b/c.txt /data/in/b/d.txt; echo;',
        `/bin/busybox stat -c "%a %u %n" . sub sub/tool.sh plain.txt /data/in /data/in/b /data/in/a.bin out;`,
        `/bin/busybox wc -c < /data/in/a.bin; cat /data/in/${deep}; echo;`,
        'mkdir -p out/x/empty; echo small > out/x/small; : > out/none; /bin/busybox ln -s small out/x/soft;',
        `head -c ${LARGE_BYTES} /dev/zero | tr "\\\\0" z > out/large; echo more >> out/large;`,
        '/bin/busybox ln out/x/small out/x/also; /bin/busybox mkfifo out/fifo; echo $STAGI_RUN > out/env; exit 3',
      ].join(' '),
      { source, input, spec: { nanoCpus: 2e9, env: [{ name: 'STAGI_RUN', value: '1' }] } },
    );
    await wish(target);
    const seen = await settled(id);
    expect(seen).toMatchObject({
      state: 'exited',
      exitCode: 3,
      gen: 1,
      task: { phase: 'saved', files: 5, skipped: 2, error: null, timedOut: false, interrupted: false },
    });
    expect(seen.task.bytes).toBe([...store.output.values()].reduce((sum, { length }) => sum + length, 0));
    expect([...store.output.keys()].sort()).toEqual(['env', 'large', 'none', 'x/also', 'x/small']);
    expect([text(store, 'x/small'), text(store, 'x/also'), text(store, 'none'), text(store, 'env')]).toEqual([
      'small\n',
      'small\n',
      '',
      '1\n',
    ]);
    const large = Buffer.concat([Buffer.alloc(LARGE_BYTES, 'z'), Buffer.from('more\n')]);
    const digest = (content: Buffer) => createHash('sha256').update(content).digest('hex');
    expect(digest(store.output.get('large')!)).toBe(digest(large));
    await platform.until('its log has ended', () => platform.logs.of(id).ends > 0);
    expect(platform.logs.of(id).lines.map((line) => line.text)).toEqual([
      'plain',
      'tool',
      '/workspace',
      'cd',
      '777 0 .',
      '777 0 sub',
      '775 0 sub/tool.sh',
      '664 0 plain.txt',
      '777 0 /data/in',
      '777 0 /data/in/b',
      '644 0 /data/in/a.bin',
      '777 0 out',
      '2500000',
      'deep',
    ]);
    expect(await starts(id)).toBe(1);
    const phases = platform.received.flatMap((one) =>
      one.type === 'progress' && one.containerId === id ? [one.phase] : [],
    );
    expect([...new Set(phases)]).toEqual(['creating', 'preparing', 'starting', 'saving']);
    await wish({ ...target, gen: 2, state: 'absent' });
    await platform.until('it is gone', () => shown(id) === undefined);
    await expect(inspect(id)).rejects.toThrow('No such container');
  });

  it('holds neither its token nor a link, in what Docker knows of it and in its files', async () => {
    const { id, target, store } = run('cat /data/in/secret > out/copy', { input: [['secret', Buffer.from('hello')]] });
    await wish(target);
    await settled(id);
    expect(text(store, 'copy')).toBe('hello');
    const container = docker.getContainer(`stagi-${slugOf(id)}`);
    const everything = [
      Buffer.from(JSON.stringify(await container.inspect())),
      await buffer(await container.export()),
      Buffer.from(daemon.output()),
    ];
    expect(everything[1]!.includes('hello')).toBe(true);
    for (const bytes of everything)
      for (const word of [store.token, store.token.slice(-12), SIGNATURE]) expect(bytes.includes(word)).toBe(false);
  });

  it('is stopped at its time limit, also by a daemon that was restarted meanwhile', async () => {
    const { id, target, store } = run(`echo begun > out/begun; ${FOREVER}`, { limit: 3 });
    await wish(target);
    await inState(id, 'running');
    await daemon.end('SIGKILL');
    await connect();
    const seen = await settled(id);
    expect(seen).toMatchObject({ state: 'exited', task: { timedOut: true, phase: 'saved', interrupted: false } });
    expect(Date.parse(seen.finishedAt!) - Date.parse(seen.startedAt!)).toBeGreaterThanOrEqual(3000);
    expect(text(store, 'begun')).toBe('begun\n');
  });

  it('is frozen and goes on, and its end is stopped and saved', async () => {
    const { id, target, store } = run(`${FOREVER.replace('exit 0', 'echo last > out/last; exit 4')}`);
    await wish(target);
    await inState(id, 'running');
    await wish({ ...target, gen: 2, state: 'paused' });
    await until(id, 'frozen', ({ state, gen }) => state === 'paused' && gen === 2);
    await wish({ ...target, gen: 3 });
    await until(id, 'going on', ({ state, gen }) => state === 'running' && gen === 3);
    await wish({ ...target, gen: 4, state: 'paused' });
    await inState(id, 'paused');
    await wish({ ...target, gen: 5, state: 'stopped' });
    expect(await settled(id)).toMatchObject({ state: 'exited', exitCode: 4, gen: 5, task: { files: 1 } });
    expect(text(store, 'last')).toBe('last\n');
    expect(await starts(id)).toBe(1);
  });

  it('is not made again when somebody removed it while it ran', async () => {
    const { id, target } = run(FOREVER);
    await wish(target);
    await inState(id, 'running');
    await docker.getContainer(`stagi-${slugOf(id)}`).remove({ force: true });
    await platform.until('it is gone', () => shown(id) === undefined);
    await wish({ ...target, gen: 2 });
    await daemon.end('SIGKILL');
    await connect();
    const other = run('true');
    await wish(other.target);
    await settled(other.id);
    await expect(inspect(id)).rejects.toThrow('No such container');
  });

  it('is refused a restart', async () => {
    const { id, target } = run('true');
    await wish(target);
    await settled(id);
    await platform.command({ kind: 'restart', containerId: id }, 'restart-of-a-task');
    const answer = await platform.until('an answer', () =>
      platform.received.find((one) => one.type === 'result' && one.commandId === 'restart-of-a-task'),
    );
    expect(answer).toMatchObject({ ok: false, message: 'This container belongs to a task' });
    expect(await starts(id)).toBe(1);
  });

  it('saves nothing when its command removed the directory, and says so when a file is in its place', async () => {
    const gone = run('/bin/busybox rm -r out');
    const file = run('/bin/busybox rm -r out; echo x > out');
    const link = run('/bin/busybox mv out /there; /bin/busybox ln -s /there out; echo y > out/y');
    await wish(gone.target, file.target, link.target);
    expect((await settled(gone.id)).task).toMatchObject({ phase: 'saved', files: 0, bytes: 0 });
    expect((await settled(file.id)).task).toMatchObject({
      phase: 'not saved',
      error: '/workspace/out is a file where a directory is needed',
    });
    expect((await settled(link.id)).task).toMatchObject({ phase: 'saved', files: 1 });
    expect(text(link.store, 'y')).toBe('y\n');
  });

  it('has all files uploaded but those whose path is too long for the storage, which is named', async () => {
    const long = Array.from({ length: 5 }, (_, index) => String(index).repeat(220)).join('/');
    const { id, target, store } = run(`mkdir -p out/${long}; echo x > out/${long}/x; echo y > out/y; echo a > out/a`);
    store.refuse('PUT object', 403);
    await wish(target);
    const { task } = await settled(id);
    expect(task).toMatchObject({ phase: 'not saved', files: 2 });
    expect(task.error).toBe(`The path of an output file is too long: ${long}/x`);
    expect([...store.output.keys()].sort()).toEqual(['a', 'y']);
  });

  it('has all files uploaded but those whose path is not UTF-8, one of which is named', async () => {
    const { id, target, store } = run(
      [
        `cd out; n() { printf "$1\\377"; }; ln() { /bin/busybox ln "$@"; };`,
        'mkdir "$(n dir)"; echo below > "$(n dir)/below"; echo one > "$(n one)"; printf two > "$(printf "one\\376")";',
        'echo three > three; ln three "$(n three)";',
        'echo five > "$(n five)"; ln "$(n five)" six;',
        'long=; for i in $(seq 100); do long=$(n "$long"); done; echo long > "$long"; echo last > last',
      ].join(' '),
    );
    await wish(target);
    const { task } = await settled(id);
    expect(task).toMatchObject({ phase: 'not saved', files: 3 });
    expect(task.error).toMatch(/^The path of an output file is not UTF-8: .*\uFFFD/);
    expect([...store.output.keys()].sort()).toEqual(['last', 'six', 'three']);
    expect([text(store, 'three'), text(store, 'six')]).toEqual(['three\n', 'five\n']);
  });

  it('ends as interrupted when the server was restarted while it ran', async () => {
    const { id, target } = run(FOREVER);
    await wish(target);
    await inState(id, 'running');
    await daemon.end('SIGKILL');
    await editRecord(id, { bootId: 'of an earlier boot' });
    await docker.getContainer(`stagi-${slugOf(id)}`).kill();
    await connect();
    expect(await settled(id)).toMatchObject({ exitCode: 137, task: { interrupted: true, phase: 'saved' } });
  });
});

describe('a daemon that is killed', () => {
  it('while it puts files in starts the run once, with all of them', async () => {
    const { id, target, store } = run('cat /data/in/one code > out/all', {
      source: await tarOf([{ name: 'code', content: 'code' }]),
      input: [['one', Buffer.from('one ')]],
    });
    const hold = store.hold('GET object');
    await wish(target);
    await hold.reached;
    await daemon.end('SIGKILL');
    hold.release();
    await connect();
    expect(await settled(id)).toMatchObject({ exitCode: 0 });
    expect(text(store, 'all')).toBe('one code');
    expect(await starts(id)).toBe(1);
  });

  it('while it uploads uploads everything, and starts nothing', async () => {
    const { id, target, store } = run('for i in 1 2 3; do echo $i > out/$i; done; echo end >> out/ends; echo printed');
    const hold = store.hold('PUT object');
    await wish(target);
    await hold.reached;
    await until(id, 'saving', (_, { phase }) => phase === 'saving');
    await platform.until('its log has ended, while Docker has it locked', () => platform.logs.of(id).ends > 0);
    expect(platform.logs.of(id).lines.map((line) => line.text)).toEqual(['printed']);
    await daemon.end('SIGKILL');
    hold.release();
    await connect();
    expect((await settled(id)).task).toMatchObject({ phase: 'saved', files: 4 });
    expect(text(store, 'ends')).toBe('end\n');
    expect(await starts(id)).toBe(1);
  });

  it('after an end that nobody saw uploads it', async () => {
    const { id, target, store } = run('sleep 1; echo late > out/late');
    await wish(target);
    await inState(id, 'running');
    await daemon.end('SIGKILL');
    await docker.getContainer(`stagi-${slugOf(id)}`).wait();
    await connect();
    expect((await settled(id)).task).toMatchObject({ phase: 'saved', files: 1, interrupted: false });
    expect(text(store, 'late')).toBe('late\n');
  });
});

describe('the upload of a large file', () => {
  const LINE = `head -c ${LARGE_BYTES} /dev/zero | tr "\\\\0" z > out/large`;
  const content = Buffer.alloc(LARGE_BYTES, 'z');

  it('goes on after its last part when the desired state changes', async () => {
    const { id, target, store } = run(LINE, { spec: { nanoCpus: 2e9 } });
    const first = store.hold('PUT object');
    await wish(target);
    await first.reached;
    const second = store.hold('PUT object');
    first.release();
    await second.reached;
    await wish({ ...target, gen: 2 });
    expect(await settled(id)).toMatchObject({ gen: 2, task: { phase: 'saved', files: 1, bytes: LARGE_BYTES } });
    second.release();
    expect(store.output.get('large')!.equals(content)).toBe(true);
    expect(store.requests.filter((kind) => kind === transfer.TASK_OUTPUT_BEGIN_PATH)).toHaveLength(1);
    expect(store.requests.filter((kind) => kind === 'PUT object')).toHaveLength(4);
  });

  it('is completed when the desired state changed after its last part', async () => {
    const { id, target, store } = run(LINE, { spec: { nanoCpus: 2e9 } });
    const completion = store.hold(transfer.TASK_OUTPUT_COMPLETE_PATH);
    await wish(target);
    await completion.reached;
    await wish({ ...target, gen: 2 });
    expect(await settled(id)).toMatchObject({ gen: 2, task: { phase: 'saved', files: 1, bytes: LARGE_BYTES } });
    completion.release();
    expect(store.output.get('large')!.equals(content)).toBe(true);
    expect(store.requests.filter((kind) => kind === transfer.TASK_OUTPUT_BEGIN_PATH)).toHaveLength(1);
    expect(store.requests.filter((kind) => kind === 'PUT object')).toHaveLength(3);
  });

  it('begins again when the platform has ended it', async () => {
    const { id, target, store } = run(LINE, { spec: { nanoCpus: 2e9 } });
    store.refuse(transfer.TASK_OUTPUT_COMPLETE_PATH, 409);
    await wish(target);
    expect((await settled(id)).task).toMatchObject({ phase: 'saved', files: 1, bytes: LARGE_BYTES });
    expect(store.output.get('large')!.equals(content)).toBe(true);
    expect(store.requests.filter((kind) => kind === transfer.TASK_OUTPUT_BEGIN_PATH)).toHaveLength(2);
  });
});

describe('the platform', () => {
  it('that has a moment of trouble, or a full storage, is asked again', async () => {
    const { id, target, store } = run('echo x > out/x; : > out/y', { input: [['a', Buffer.from('a')]] });
    store.refuse(transfer.TASK_SOURCE_PATH, 503);
    store.refuse('GET object', 503);
    store.refuse(transfer.TASK_OUTPUT_LINKS_PATH, 409);
    store.refuse('PUT object', 500);
    await wish(target);
    await until(id, 'the reason is told', (_, { error }) => error === 'Refused with 409');
    expect((await settled(id)).task).toMatchObject({ phase: 'saved', files: 2, error: null });
    expect(await starts(id)).toBe(1);
    expect(await failure(id)).toMatchObject({ permanent: false, phase: 'save', message: 'Refused with 409' });
  });

  it.each([401, 410, 422])('that answers %i to an upload ends it', async (status) => {
    const { id, target, store } = run('echo x > out/x');
    store.refuse(transfer.TASK_OUTPUT_LINKS_PATH, status);
    await wish(target);
    expect((await settled(id)).task).toMatchObject({ phase: 'not saved', error: `Refused with ${status}`, files: 0 });
  });

  it('that answers 422 to the source has the run fail before its start', async () => {
    const { id, target, store } = run('true');
    store.refuse(transfer.TASK_SOURCE_PATH, 422);
    await wish(target);
    expect(await failure(id)).toMatchObject({ permanent: true, phase: 'prepare', message: 'Refused with 422' });
    await wish({ ...target, gen: 2, state: 'absent' });
    await platform.until('it is gone', () => shown(id) === undefined);
  });

  it('that answers after the step has failed changes nothing', async () => {
    // An empty file needs no request: the second one is refused while its object is fetched.
    const { id, target, store } = run('true', {
      input: [
        ['a', Buffer.alloc(0)],
        ['a/b', Buffer.from('b')],
      ],
    });
    store.refuse('GET object', 503);
    const hold = store.hold('GET object');
    await wish(target);
    expect(await failure(id)).toMatchObject({ permanent: true, phase: 'prepare' });
    hold.release();
    const other = run('true');
    await wish(other.target);
    await settled(other.id);
    expect(shown(id)?.task?.error).toBeNull();
  });

  it('that is slow holds up no other container, and an unwanted run is removed at once', async () => {
    const { id, target, store } = run('true', { input: [['a', Buffer.from('a')]] });
    const hold = store.hold('GET object');
    await wish(target);
    await hold.reached;
    await until(id, 'it is seen', ({ state }, { phase }) => state === 'created' && phase === 'preparing');
    const other = run('true');
    await wish(other.target);
    await settled(other.id);
    expect(platform.inventory()?.dockerError).toBeNull();
    await wish({ ...target, gen: 2, state: 'absent' });
    await platform.until('it is gone', () => shown(id) === undefined);
    hold.release();
  });
});

describe('hostile files', () => {
  const INPUT = [
    ['..'],
    ['../x'],
    ['a/../../x'],
    ['a/..'],
    ['.'],
    ['./x'],
    ['a/./b'],
    ['/etc/passwd'],
    ['/'],
    ['a//b'],
    ['a/'],
    ['a/b/'],
    ['nul\0byte'],
    ['n'.repeat(256)],
    [`a/${'ü'.repeat(128)}`],
    ['file', 'file/below'],
    ['deep/file', 'deep/file-b', 'deep/file/x/y'],
    ['x', 'x!', 'x/y'],
  ];
  const SOURCE = [
    [{ name: '../x', content: 'x' }],
    [{ name: '/x', content: 'x' }],
    [{ name: 'a/../../x', content: 'x' }],
    [{ name: './x', content: 'x' }],
    [{ name: 'a//b', content: 'x' }],
    [{ name: `${'n'.repeat(256)}`, content: 'x' }],
    [{ name: 'd/' }, { name: 'd/x', content: 'x' }, { name: 'd', content: 'file' }],
  ];

  it('are refused, and name the path', async () => {
    const sources = await Promise.all(SOURCE.map(tarOf));
    const runs = [
      ...INPUT.map((paths) => run('true', { input: paths.map((path) => [path, Buffer.from('x')]) })),
      ...sources.map((source) => run('true', { source })),
    ];
    await wish(...runs.map(({ target }) => target));
    const said = await Promise.all(runs.map(({ id }) => failure(id)));
    console.log(`hostile files: n = ${runs.length}, refused ${said.filter(({ permanent }) => permanent).length}`);
    for (const [index, one] of said.entries()) {
      expect(one, JSON.stringify([...INPUT, ...SOURCE][index])).toMatchObject({ permanent: true, phase: 'prepare' });
      expect(one.message).toMatch(/cannot be a file|both a file and a directory/);
    }
    for (const { id } of runs) expect((await inspect(id)).State.StartedAt).toMatch(/^0001/);
    await wish(...runs.map(({ target }) => ({ ...target, gen: 2, state: 'absent' as const })));
    await platform.until('they are gone', () => runs.every(({ id }) => shown(id) === undefined));
  });

  it('of the image in the way are named', async () => {
    const inTheWay = [
      run('true', { paths: { codePath: '/bin/busybox' } }),
      run('true', { paths: { inputPath: '/bin/busybox/x' } }),
      run('true', { paths: { outputPath: '/bin/sh' } }),
    ];
    await wish(...inTheWay.map(({ target }) => target));
    const said = await Promise.all(inTheWay.map(({ id }) => failure(id)));
    expect(said.map(({ permanent, message }) => ({ permanent, message }))).toEqual([
      { permanent: true, message: '/bin/busybox is a file where a directory is needed' },
      { permanent: true, message: '/bin/busybox/x is a file where a directory is needed' },
      { permanent: true, message: '/bin/sh is a file where a directory is needed' },
    ]);
  });

  it.each([
    [{ codePath: '/' }, 'The root directory cannot be used for cloning'],
    [{ codePath: '/proc/x' }, 'This directory of the container cannot be replaced'],
    [{ inputPath: 'data' }, 'The root directory of the container cannot be replaced'],
    [{ outputPath: '/workspace' }, 'Output path must not hold the code or the input'],
    [{ outputPath: '/data' }, 'Output path must not hold the code or the input'],
  ])('are not put into %j', async (paths, message) => {
    const { id, target } = run('true', { paths });
    await wish(target);
    expect(await failure(id)).toMatchObject({ permanent: true, phase: 'create', message });
  });
});
