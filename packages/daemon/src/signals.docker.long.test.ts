import { beforeAll, expect, it } from 'vitest';
import { container } from './testing/daemon.ts';
import { docker } from './testing/image.ts';
import { ensureSignalImages, SIGNAL_CASES } from './testing/signalCases.ts';
import { startTaskRuns } from './testing/taskRuns.ts';

const { at, inspect, inState, run, shown, until, wish } = startTaskRuns();
const spec = { image: '', nanoCpus: 1e9 };
let intImage: string;
beforeAll(async () => {
  const images = await ensureSignalImages();
  spec.image = images.term;
  intImage = images.int;
});

const lines = (id: number) => at.platform.logs.of(id).lines.map(({ text }) => text);
const logEnds = (id: number) => at.platform.until('its log has ended', () => at.platform.logs.of(id).ends > 0);
const said = (id: number) =>
  lines(id)
    .filter((line) => line !== 'ready')
    .sort();
/** One for every background job. */
const isReady = (id: number, times = 1) =>
  expect
    .poll(() => lines(id).filter((line) => line === 'ready').length, { timeout: 60_000 })
    .toBeGreaterThanOrEqual(times);
const patient = { spec, stopGraceSeconds: 120 };
const ended = (id: number) => inState(id, 'exited').then(() => shown(id)!);
const own = (id: number) => at.platform.until(`container ${id}`, () => shown(id));
const exits = (id: number) => at.platform.until(`container ${id} exits`, () => shown(id)?.state === 'exited');

it(`brings the signal of a cancel to its program (n = ${SIGNAL_CASES.length})`, { timeout: 240_000 }, async () => {
  for (let from = 0; from < SIGNAL_CASES.length; from += 6) {
    const runs = SIGNAL_CASES.slice(from, from + 6).map((one) => ({ ...one, ...run(one.line, patient) }));
    await wish(...runs.map(({ target }) => target));
    for (const { id, says } of runs) await isReady(id, says.filter((line) => line.startsWith('saved')).length || 1);
    await wish(...runs.map(({ target }) => ({ ...target, gen: 2, state: 'stopped' as const })));
    for (const { name, id, says, exitCode } of runs) {
      const { exitCode: code } = await ended(id);
      await logEnds(id);
      expect.soft({ name, said: said(id), exitCode: code }).toEqual({ name, said: [...says].sort(), exitCode });
    }
    await wish(...runs.map(({ target }) => ({ ...target, gen: 3, state: 'absent' as const })));
  }
  console.log(`n = ${SIGNAL_CASES.length} commands, canceled`);
});

it('kills what goes on after the grace, not before', async () => {
  const { id, target } = run('stubborn; echo next', { spec, stopGraceSeconds: 4 });
  await wish(target);
  await isReady(id);
  const begunAt = Date.now();
  await wish({ ...target, gen: 2, state: 'stopped' });
  expect(await ended(id)).toMatchObject({ exitCode: 137 });
  const took = (Date.now() - begunAt) / 1000;
  expect(took).toBeGreaterThan(3.9);
  expect(took).toBeLessThan(20);
  await logEnds(id);
  expect(said(id)).toEqual([]);
});

it('stops at the time limit, below a shell', async () => {
  const { id, target } = run('train | cat && echo next', { ...patient, limit: 2 });
  await wish(target);
  await until(id, 'it was stopped', ({ state }, { timedOut }) => state === 'exited' && timedOut);
  await logEnds(id);
  expect(said(id)).toEqual(['saved']);
});

it('ends at once when it is canceled in its first moments', { timeout: 120_000 }, async () => {
  let n = 0;
  for (const line of [
    'train && echo next',
    'plain; echo next',
    'sleep 0.3; train; echo next',
    'script',
    'exec plain',
  ]) {
    const { id, target } = run(line, { spec, stopGraceSeconds: 200 });
    await wish(target);
    await until(id, 'it was started', ({ startedAt }) => startedAt);
    await wish({ ...target, gen: 2, state: 'stopped' });
    await ended(id);
    await logEnds(id);
    expect(lines(id), line).not.toContain('next');
    n += 1;
  }
  console.log(`n = ${n} commands, canceled as they began`);
});

it('reaps what a program leaves behind', async () => {
  const { id, target } = run(
    'for i in 1 2 3 4 5 6; do sh -c "sleep 0.2 & exit 0"; done; sleep 1; busybox ps -o stat,comm; train',
    patient,
  );
  await wish(target);
  await isReady(id);
  expect(lines(id).join('\n')).toContain('docker-init');
  expect(lines(id).filter((line) => line.startsWith('Z'))).toEqual([]);
  expect(lines(id).filter((line) => line.includes('sleep'))).toEqual([]);
});

it('stops containers: exec form, the image’s signal, a restart policy, a restart', { timeout: 120_000 }, async () => {
  const stop = { gen: 2, state: 'stopped' as const };
  const of = (id: number, command: string[] | null, more: object = {}) =>
    container(id, '', { stopGraceSeconds: 120, spec: { ...spec, command, ...more } });
  const asked = [
    { target: of(901, ['train']), says: ['saved'], exitCode: 0 },
    { target: of(902, ['sh', '-c', 'train && echo next']), says: ['saved'], exitCode: 143 },
    { target: of(903, null, { image: intImage }), says: ['saved'], exitCode: 0 },
    {
      target: of(904, ['sh', '-c', 'train && echo next'], { restartPolicy: 'always' }),
      says: ['saved'],
      exitCode: 143,
    },
    { target: of(905, ['plain'], { restartPolicy: 'unless-stopped' }), says: [], exitCode: 143 },
    { target: of(906, ['stubborn'], {}), says: [], exitCode: 137, grace: 3 },
  ];
  await wish(...asked.map(({ target }) => target));
  for (const { target } of asked) await isReady(target.id);
  await wish(...asked.map(({ target, grace = 120 }) => ({ ...target, ...stop, stopGraceSeconds: grace })));
  for (const { target, says, exitCode } of asked) {
    await exits(target.id);
    await logEnds(target.id);
    expect.soft({ id: target.id, said: said(target.id), code: (await own(target.id)).exitCode }).toEqual({
      id: target.id,
      said: says,
      code: exitCode,
    });
    expect((await inspect(target.id)).State.Running).toBe(false);
  }
  const again = of(910, ['sh', '-c', 'train && echo next']);
  await wish(again);
  await isReady(again.id);
  const { startedAt } = await own(again.id);
  await at.platform.command({ kind: 'restart', containerId: again.id });
  await at.platform.until('it was restarted', () => {
    const now = shown(again.id);
    return now?.state === 'running' && now.startedAt !== startedAt;
  });
  await isReady(again.id, 2);
  expect(said(again.id)).toEqual(['saved']);
  console.log(`n = ${asked.length + 1} containers, stopped or restarted`);
});

it('stops what an earlier agent has made, without an init', { timeout: 120_000 }, async () => {
  const cases: [command: string[], says: string[], exitCode: number][] = [
    [['train'], ['saved'], 0],
    [['plain'], [], 137],
    [['sh', '-c', 'train && echo next'], ['saved'], 137],
    [['sh', '-c', 'train | cat; echo next'], ['saved'], 137],
  ];
  const { connectDocker } = await import('./docker.ts');
  const engine = connectDocker({ platform: 'none', node: '0' });
  for (const [Cmd, says, code] of cases) {
    const made = await docker.createContainer({ Image: spec.image, Cmd });
    try {
      await made.start();
      const output = () => made.logs({ stdout: true, stderr: true }).then((log) => log.toString('latin1'));
      await expect.poll(output, { timeout: 30_000 }).toContain('ready');
      await engine.stop(made.id, { graceSeconds: 100, signal: new AbortController().signal });
      const { State } = await made.inspect();
      const text = await output();
      const heard = { saved: text.includes('saved'), next: text.includes('next'), code: State.ExitCode };
      expect.soft({ Cmd, ...heard }).toEqual({ Cmd, saved: says.length > 0, next: false, code });
    } finally {
      await made.remove({ force: true });
    }
  }
  console.log(`n = ${cases.length} containers without an init`);
});
