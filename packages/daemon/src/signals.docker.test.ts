import { beforeAll, expect, it } from 'vitest';
import { ensureSignalImages, SIGNAL_CASES } from './testing/signalCases.ts';
import { startTaskRuns } from './testing/taskRuns.ts';

const { at, inState, run, shown, until, wish } = startTaskRuns();
const spec = { image: '', nanoCpus: 1e9 };
beforeAll(async () => {
  spec.image = (await ensureSignalImages()).term;
});

const lines = (id: number) => at.platform.logs.of(id).lines.map(({ text }) => text);
const isReady = (id: number) => expect.poll(() => lines(id), { timeout: 60_000 }).toContain('ready');

/** The long file has all. */
const SHORT = SIGNAL_CASES.filter(({ name }) =>
  ['a chain with &&', 'a pipeline with a chain', 'background jobs and wait', 'a script with a trap'].includes(name),
);

it(`brings the signal of a cancel to programs below shells (n = ${SHORT.length})`, async () => {
  const runs = SHORT.map((one) => ({ ...one, ...run(one.line, { spec, stopGraceSeconds: 60 }) }));
  await wish(...runs.map(({ target }) => target));
  for (const { id } of runs) await isReady(id);
  await wish(...runs.map(({ target }) => ({ ...target, gen: 2, state: 'stopped' as const })));
  for (const { name, id, says, exitCode } of runs) {
    await inState(id, 'exited');
    await at.platform.until('its log has ended', () => at.platform.logs.of(id).ends > 0);
    const said = lines(id).filter((line) => line !== 'ready');
    expect({ name, said: said.sort(), exitCode: shown(id)?.exitCode }).toEqual({ name, said: says, exitCode });
  }
  console.log(`n = ${runs.length} commands, canceled`);
});

it('lets a program save its work at the time limit', async () => {
  const { id, target } = run('train && echo next', { spec, limit: 1, stopGraceSeconds: 60 });
  await wish(target);
  await until(id, 'it was stopped', ({ state }, { timedOut }) => state === 'exited' && timedOut);
  await at.platform.until('its log has ended', () => at.platform.logs.of(id).ends > 0);
  expect(lines(id)).toEqual(['ready', 'saved']);
});

it('does not wait for the programs of a container that is deleted, also while it is being stopped', async () => {
  const { id, target } = run('stubborn', { spec, stopGraceSeconds: 300 });
  await wish(target);
  await isReady(id);
  await wish({ ...target, gen: 2, state: 'stopped' });
  await at.platform.until('it is being stopped', () =>
    at.platform.received.some((one) => one.type === 'progress' && one.containerId === id && one.phase === 'stopping'),
  );
  await wish({ ...target, gen: 3, state: 'absent' });
  await at.platform.until('it is gone', () => shown(id) === undefined);
});
