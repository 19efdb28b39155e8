import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { slugOf } from './testing/daemon.ts';
import { docker } from './testing/image.ts';
import { LARGE_BYTES, startTaskRuns } from './testing/taskRuns.ts';
import { tarOf } from './testing/taskStore.ts';

const FOREVER = 'trap "exit 0" TERM; while :; do sleep 0.1; done';
const { at, connect, editRecord, inspect, inState, run, settled, shown, starts, text, until, wish } = startTaskRuns();

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
    await at.platform.until('its log has ended', () => at.platform.logs.of(id).ends > 0);
    expect(at.platform.logs.of(id).lines.map((line) => line.text)).toEqual([
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
    const phases = at.platform.received.flatMap((one) =>
      one.type === 'progress' && one.containerId === id ? [one.phase] : [],
    );
    expect([...new Set(phases)]).toEqual(['creating', 'preparing', 'starting', 'saving']);
    await wish({ ...target, gen: 2, state: 'absent' });
    await at.platform.until('it is gone', () => shown(id) === undefined);
    await expect(inspect(id)).rejects.toThrow('No such container');
  });

  it('is stopped at its time limit, also by a daemon that was restarted meanwhile', async () => {
    const { id, target, store } = run(`echo begun > out/begun; ${FOREVER}`, { limit: 3 });
    await wish(target);
    await inState(id, 'running');
    await at.daemon.end('SIGKILL');
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
    await at.platform.until('it is gone', () => shown(id) === undefined);
    await wish({ ...target, gen: 2 });
    await at.daemon.end('SIGKILL');
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
    await at.platform.command({ kind: 'restart', containerId: id }, 'restart-of-a-task');
    const answer = await at.platform.until('an answer', () =>
      at.platform.received.find((one) => one.type === 'result' && one.commandId === 'restart-of-a-task'),
    );
    expect(answer).toMatchObject({ ok: false, message: 'This container belongs to a task' });
    expect(await starts(id)).toBe(1);
  });

  it('ends as interrupted when the server was restarted while it ran', async () => {
    const { id, target } = run(FOREVER);
    await wish(target);
    await inState(id, 'running');
    await at.daemon.end('SIGKILL');
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
    await at.daemon.end('SIGKILL');
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
    await at.platform.until('its log has ended, while Docker has it locked', () => at.platform.logs.of(id).ends > 0);
    expect(at.platform.logs.of(id).lines.map((line) => line.text)).toEqual(['printed']);
    await at.daemon.end('SIGKILL');
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
    await at.daemon.end('SIGKILL');
    await docker.getContainer(`stagi-${slugOf(id)}`).wait();
    await connect();
    expect((await settled(id)).task).toMatchObject({ phase: 'saved', files: 1, interrupted: false });
    expect(text(store, 'late')).toBe('late\n');
  });
});
