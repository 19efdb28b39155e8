import { buffer } from 'node:stream/consumers';
import * as transfer from '@stagi/contract/taskTransfer.ts';
import { describe, expect, it } from 'vitest';
import { slugOf } from './testing/daemon.ts';
import { docker } from './testing/image.ts';
import { LARGE_BYTES, startTaskRuns } from './testing/taskRuns.ts';
import { SIGNATURE, tarOf } from './testing/taskStore.ts';

const { at, failure, inspect, run, settled, shown, starts, text, until, wish } = startTaskRuns();

describe('the files of a task', () => {
  it('holds neither its token nor a link, in what Docker knows of it and in its files', async () => {
    const { id, target, store } = run('cat /data/in/secret > out/copy', { input: [['secret', Buffer.from('hello')]] });
    await wish(target);
    await settled(id);
    expect(text(store, 'copy')).toBe('hello');
    const container = docker.getContainer(`stagi-${slugOf(id)}`);
    const everything = [
      Buffer.from(JSON.stringify(await container.inspect())),
      await buffer(await container.export()),
      Buffer.from(at.daemon.output()),
    ];
    expect(everything[1]!.includes('hello')).toBe(true);
    for (const bytes of everything)
      for (const word of [store.token, store.token.slice(-12), SIGNATURE]) expect(bytes.includes(word)).toBe(false);
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
    await at.platform.until('it is gone', () => shown(id) === undefined);
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
    expect(at.platform.inventory()?.dockerError).toBeNull();
    await wish({ ...target, gen: 2, state: 'absent' });
    await at.platform.until('it is gone', () => shown(id) === undefined);
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
    await at.platform.until('they are gone', () => runs.every(({ id }) => shown(id) === undefined));
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
