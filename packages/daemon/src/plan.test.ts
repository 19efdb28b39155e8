import type { ActualTask } from '@stagi/contract/daemon.ts';
import type { DesiredContainer } from '@stagi/contract/desiredState.ts';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { inventoryOf } from './inventory.ts';
import { plan, type SeenContainer, type Step, stepsFor } from './plan.ts';
import { deadlineOf, NEW_TASK, observeTask, reportOfTask, type TaskRecord } from './taskRecord.ts';
import { container } from './testing/daemon.ts';
import { taskContainer } from './testing/taskStore.ts';

const wants = (state: 'running' | 'stopped' | 'absent', gen = 2) => container(1, 'true', { state, gen });
/** Of another specification than what is seen. */
const edited = (state: 'running' | 'stopped' | 'absent', specNo = 2) => ({ ...wants(state), specNo });
const shows = (state: SeenContainer['state'], more: Partial<SeenContainer> = {}): SeenContainer => ({
  id: 1,
  createdGen: 1,
  begunGen: 1,
  specNo: 1,
  dockerId: 'd1',
  state,
  exitCode: null,
  oomKilled: false,
  error: null,
  startedAt: null,
  finishedAt: null,
  ...more,
});
const withVolume = (
  restartPolicy: DesiredContainer['spec']['restartPolicy'],
  directories = [{ host: '/srv/x', container: '/x' }],
) => container(1, 'true', { spec: { restartPolicy, directories } });
/** What Docker could not start by itself. */
const afterBoot = (more: Partial<SeenContainer> = {}) =>
  shows('exited', { exitCode: 0, areVolumesBound: false, protections: ['network', 'volumes'], ...more });
const never = { endedGen: () => 0, hasBegun: () => false };

const TABLE: [string, ReturnType<typeof wants>, SeenContainer | null, Step[]][] = [
  ['makes and starts what is not there', wants('running'), null, ['create', 'start']],
  ['starts what was made', wants('running'), shows('created'), ['start']],
  [
    'starts what was made again under a generation that ran',
    wants('running'),
    shows('created', { begunGen: 2 }),
    ['start'],
  ],
  ['leaves a running one alone', wants('running'), shows('running'), []],
  ['leaves one alone that Docker restarts', wants('running'), shows('restarting'), []],
  ['leaves one alone that somebody paused', wants('running'), shows('paused'), []],
  ['starts a stopped one under a new generation', wants('running', 3), shows('exited'), ['start']],
  ['lets one rest that ended by itself', wants('running', 3), shows('exited', { begunGen: 3 }), []],
  ['starts one after a boot that Docker restarts always', withVolume('always'), afterBoot(), ['start']],
  ['starts one after a boot that was not stopped', withVolume('unless-stopped'), afterBoot(), ['start']],
  ['starts one after a boot that did not end well', withVolume('on-failure'), afterBoot({ exitCode: 255 }), ['start']],
  ['lets one rest after a boot that ended well', withVolume('on-failure'), afterBoot(), []],
  ['lets one rest after a boot that is not restarted', withVolume('no'), afterBoot({ exitCode: 255 }), []],
  ['leaves one to Docker whose volumes are bound', withVolume('always'), afterBoot({ areVolumesBound: true }), []],
  ['leaves one to Docker that an earlier agent made', withVolume('always'), afterBoot({ protections: [] }), []],
  ['leaves one to Docker that has no volumes', withVolume('always', []), afterBoot(), []],
  ['makes a dead one anew', wants('running'), shows('dead'), ['remove', 'create', 'start']],
  ['waits for one that is being removed', wants('running'), shows('removing'), []],
  ['stops a running one', wants('stopped'), shows('running'), ['stop']],
  ['stops one that crashes over and over', wants('stopped'), shows('restarting'), ['stop']],
  ['stops a paused one', wants('stopped'), shows('paused'), ['stop']],
  ['leaves a stopped one alone', wants('stopped'), shows('exited'), []],
  ['makes nothing that shall not run', wants('stopped'), null, []],
  ['stops and removes a running one', wants('absent'), shows('running'), ['stop', 'remove']],
  ['removes a stopped one', wants('absent'), shows('exited'), ['remove']],
  ['removes one that was never started', wants('absent'), shows('created'), ['remove']],
  ['removes a dead one', wants('absent'), shows('dead'), ['remove']],
  ['has nothing to do for one that is gone', wants('absent'), null, []],
  [
    'recreates a running one whose specification changed, with its image first',
    edited('running'),
    shows('running'),
    ['pull', 'stop', 'remove', 'create', 'start'],
  ],
  [
    'recreates one that Docker restarts',
    edited('running'),
    shows('restarting'),
    ['pull', 'stop', 'remove', 'create', 'start'],
  ],
  [
    'recreates and starts one that ended before the change',
    edited('running'),
    shows('exited'),
    ['pull', 'remove', 'create', 'start'],
  ],
  ['recreates one that was never started', edited('running'), shows('created'), ['pull', 'remove', 'create', 'start']],
  [
    'recreates a dead one with its image first',
    edited('running'),
    shows('dead'),
    ['pull', 'remove', 'create', 'start'],
  ],
  ['creates a changed one that is gone already', edited('running'), null, ['create', 'start']],
  ['recreates a stopped one without a start', edited('stopped'), shows('exited'), ['pull', 'remove', 'create']],
  ['stops a running one first, also when it changed', edited('stopped'), shows('running'), ['stop']],
  ['does not create a changed one that is gone and shall not run', edited('stopped'), null, []],
  ['removes a changed one', edited('absent'), shows('running'), ['stop', 'remove']],
  ['leaves one alone that has its specification', edited('running'), shows('running', { specNo: 2 }), []],
  [
    'recreates one after a change was undone too late',
    edited('running', 1),
    shows('running', { specNo: 2 }),
    ['pull', 'stop', 'remove', 'create', 'start'],
  ],
  ['takes a missing number for 1', edited('running', 1), shows('running', { specNo: undefined }), []],
];

describe('the plan for a container', () => {
  it.each(TABLE)('%s', (_, target, seen, steps) => {
    expect(plan([target], seen ? [seen] : [], never).flatMap((one) => one.steps)).toEqual(steps);
  });

  it('leaves containers alone that are not desired', () => {
    expect(plan([], [shows('running')], never)).toEqual([]);
  });

  it('does not recreate one that exited and was removed, until it is started again', () => {
    const past = { ...never, endedGen: () => 2 };
    expect(plan([wants('running', 2)], [], past)).toEqual([]);
    expect(plan([wants('running', 3)], [], past)).toHaveLength(1);
  });

  it('is empty once its steps are done, whatever Docker showed before', () => {
    const states = ['created', 'running', 'paused', 'restarting', 'exited', 'dead'] as const;
    const specNo = fc.integer({ min: 1, max: 3 });
    const seen = fc.option(
      fc.record({ state: fc.constantFrom(...states), begunGen: fc.integer({ min: 0, max: 4 }), specNo }),
      { nil: null },
    );
    const wish = fc.record({
      state: fc.constantFrom('running', 'stopped', 'absent'),
      gen: fc.integer({ min: 1, max: 4 }),
      specNo,
    });
    fc.assert(
      fc.property(wish, seen, (target, found) => {
        const desired = container(1, 'true', target);
        const before = found && shows(found.state, found);
        let after = stepsFor(desired, before).reduce(done(desired.gen, desired.specNo), before);
        // A running one that shall be stopped is stopped at once, and recreated by the next pass.
        if (desired.state === 'stopped')
          after = stepsFor(desired, after).reduce(done(desired.gen, desired.specNo), after);
        expect(stepsFor(desired, after)).toEqual([]);
      }),
    );
  });
});

const STARTED = '2026-11-26T12:00:00Z';
const runs = (state: DesiredContainer['state'], gen = 2) => taskContainer(1, 'true', { state, gen });
const hasRun = (state: SeenContainer['state'], task: Partial<ActualTask> = {}) =>
  shows(state, { startedAt: STARTED, task: { ...reportOfTask(NEW_TASK), phase: 'ready', ...task } });
const neverRan = (state: SeenContainer['state'], phase: ActualTask['phase'] = 'preparing') =>
  shows(state, { begunGen: 0, task: { ...reportOfTask(NEW_TASK), phase } });

const TASKS: [string, ReturnType<typeof runs>, SeenContainer | null, Step[]][] = [
  ['is made, filled and started', runs('running'), null, ['create', 'prepare', 'start']],
  ['is filled again when that was not finished', runs('running'), neverRan('created'), ['prepare', 'start']],
  ['is started when its files are in', runs('running'), neverRan('created', 'ready'), ['start']],
  [
    'is made anew when it died before its start',
    runs('running'),
    neverRan('dead'),
    ['remove', 'create', 'prepare', 'start'],
  ],
  ['is left alone while it runs', runs('running'), hasRun('running'), []],
  ['is stopped at its time limit', runs('running'), hasRun('running', { timedOut: true }), ['stop']],
  ['is frozen', runs('paused'), hasRun('running'), ['pause']],
  ['stays frozen', runs('paused'), hasRun('paused'), []],
  ['goes on', runs('running'), hasRun('paused'), ['unpause']],
  ['is made, to be frozen once it runs', runs('paused'), null, ['create', 'prepare', 'start']],
  ['is saved after its end', runs('running'), hasRun('exited'), ['save']],
  ['is saved after an end while frozen', runs('paused'), hasRun('exited'), ['save']],
  ['is saved until that has ended', runs('running'), hasRun('exited', { phase: 'saving' }), ['save']],
  ['is not saved twice', runs('running'), hasRun('exited', { phase: 'saved' }), []],
  ['is not saved when that is hopeless', runs('running'), hasRun('exited', { phase: 'not saved' }), []],
  ['is not started again under a later generation', runs('running', 9), hasRun('exited', { phase: 'saved' }), []],
  ['is not made again when it died after its start', runs('running'), hasRun('dead'), ['save']],
  ['is stopped', runs('stopped'), hasRun('running'), ['stop']],
  ['is stopped while frozen', runs('stopped'), hasRun('paused'), ['stop']],
  ['is saved after it was stopped', runs('stopped'), hasRun('exited', { phase: 'saving' }), ['save']],
  ['has nothing to save when it never ran', runs('stopped'), neverRan('created', 'ready'), []],
  ['is not made to be stopped', runs('stopped'), null, []],
  ['is removed whatever was saved', runs('absent'), hasRun('exited'), ['remove']],
  ['is stopped and removed', runs('absent'), hasRun('paused'), ['stop', 'remove']],
  ['is left alone while it is removed', runs('running'), hasRun('removing'), []],
];

describe('the run of a task', () => {
  it.each(TASKS)('%s', (_, target, seen, steps) => {
    expect(plan([target], seen ? [seen] : [], never).flatMap((one) => one.steps)).toEqual(steps);
  });

  it('is not made again when somebody removed it, under any generation', () => {
    const past = { endedGen: () => 0, hasBegun: () => true };
    for (const state of ['running', 'paused', 'stopped'] as const) expect(plan([runs(state, 9)], [], past)).toEqual([]);
  });

  it('is started only from a state in which it never ran', () => {
    const states = ['created', 'running', 'paused', 'restarting', 'exited', 'dead', 'removing'] as const;
    const phases = ['preparing', 'ready', 'saving', 'saved', 'not saved'] as const;
    const seen = fc.record({
      state: fc.constantFrom(...states),
      phase: fc.constantFrom(...phases),
      begunGen: fc.nat(5),
      timedOut: fc.boolean(),
    });
    const wish = fc.record({
      state: fc.constantFrom('running' as const, 'paused' as const, 'stopped' as const, 'absent' as const),
      gen: fc.integer({ min: 1, max: 5 }),
    });
    fc.assert(
      fc.property(wish, seen, ({ state, gen }, { phase, timedOut, ...found }) => {
        const steps = stepsFor(runs(state, gen), {
          ...hasRun(found.state, { phase, timedOut }),
          begunGen: found.begunGen,
        });
        expect(steps).not.toContain('create');
        expect(steps).not.toContain('start');
      }),
    );
  });
});

describe('the record of a run', () => {
  const at = (seconds: number) => Date.parse(STARTED) + seconds * 1000;
  const look = (record: TaskRecord, state: SeenContainer['state'], seconds: number, bootId = 'b1') =>
    observeTask(record, { state, startedAt: STARTED }, { limitSeconds: 60, bootId, now: at(seconds) });
  const started: TaskRecord = { ...NEW_TASK, phase: 'ready', bootId: 'b1' };

  it('notes its time limit, from its start on', () => {
    expect(look(started, 'running', 59.9).timedOut).toBe(false);
    expect(look(started, 'running', 60).timedOut).toBe(true);
    expect(deadlineOf(started, { state: 'running', startedAt: STARTED }, 60)).toBe(at(60));
    expect(
      observeTask(started, { state: 'created', startedAt: null }, { limitSeconds: 1, bootId: 'b1', now: at(9) }),
    ).toEqual(started);
  });

  it('does not count the time for which it was frozen', () => {
    const frozen = look(started, 'paused', 30);
    expect(look(frozen, 'paused', 500).timedOut).toBe(false);
    const thawed = look(frozen, 'running', 500);
    expect(thawed).toMatchObject({ pausedMs: 470_000, pausedAt: null, timedOut: false });
    expect(look(thawed, 'running', 529).timedOut).toBe(false);
    expect(look(thawed, 'running', 530).timedOut).toBe(true);
  });

  it('notes its end once, and whether the server was restarted meanwhile', () => {
    expect(look(started, 'exited', 10)).toMatchObject({ phase: 'saving', interrupted: false, timedOut: false });
    expect(look(started, 'exited', 10, 'b2')).toMatchObject({ phase: 'saving', interrupted: true });
    const ended = look(started, 'exited', 10);
    expect(look(ended, 'exited', 99, 'b2')).toEqual(ended);
    expect(look({ ...started, bootId: null }, 'exited', 10)).toMatchObject({ phase: 'saving', interrupted: false });
  });
});

/** What Docker shows after a step. */
function done(gen: number, specNo = 1) {
  return (seen: SeenContainer | null, step: Step): SeenContainer | null => {
    switch (step) {
      case 'create':
        return shows('created', { createdGen: gen, begunGen: 0, specNo });
      case 'start':
      case 'unpause':
        return seen && { ...seen, state: 'running', begunGen: gen };
      case 'pause':
        return seen && { ...seen, state: 'paused' };
      case 'pull':
      case 'prepare':
      case 'save':
        return seen;
      case 'stop':
        return seen && { ...seen, state: 'exited' };
      case 'remove':
        return null;
      default:
        return step satisfies never;
    }
  };
}

describe('the inventory', () => {
  const told = (target: ReturnType<typeof wants>, seen: SeenContainer) =>
    inventoryOf({
      desired: { aud: 'stagi-daemon-command', node: '7', gen: 9, iat: 0, exp: 0, containers: [target], sshKeys: null },
      seen: [seen],
      images: [],
      dockerError: null,
      sshKeys: null,
    });

  it('shows a container under its desired generation when no step is left', () => {
    expect(told(wants('running', 5), shows('running')).containers[0]?.gen).toBe(5);
    expect(told(wants('stopped', 5), shows('exited')).containers[0]?.gen).toBe(5);
  });

  it('shows it under the generation before while a step is left', () => {
    expect(told(wants('running', 5), shows('exited', { begunGen: 3 })).containers[0]?.gen).toBe(3);
    expect(told(wants('stopped', 5), shows('running')).containers[0]?.gen).toBe(1);
  });

  it('holds only the fields of the contract', () => {
    expect(told(wants('running'), shows('running')).containers[0]).not.toHaveProperty('begunGen');
  });
});
