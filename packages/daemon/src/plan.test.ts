import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { inventoryOf } from './inventory.ts';
import { plan, type SeenContainer, type Step, stepsFor } from './plan.ts';
import { container } from './testing/daemon.ts';

const wants = (state: 'running' | 'stopped' | 'absent', gen = 2) => container(1, 'true', { state, gen });
const shows = (state: SeenContainer['state'], more: Partial<SeenContainer> = {}): SeenContainer => ({
  id: 1,
  createdGen: 1,
  begunGen: 1,
  dockerId: 'd1',
  state,
  exitCode: null,
  oomKilled: false,
  error: null,
  startedAt: null,
  finishedAt: null,
  ...more,
});
const never = () => 0;

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
];

describe('the plan for a container', () => {
  it.each(TABLE)('%s', (_, target, seen, steps) => {
    expect(plan([target], seen ? [seen] : [], never).flatMap((one) => one.steps)).toEqual(steps);
  });

  it('leaves containers alone that are not desired', () => {
    expect(plan([], [shows('running')], never)).toEqual([]);
  });

  it('does not recreate one that exited and was removed, until it is started again', () => {
    expect(plan([wants('running', 2)], [], () => 2)).toEqual([]);
    expect(plan([wants('running', 3)], [], () => 2)).toHaveLength(1);
  });

  it('is empty once its steps are done, whatever Docker showed before', () => {
    const states = ['created', 'running', 'paused', 'restarting', 'exited', 'dead'] as const;
    const seen = fc.option(fc.record({ state: fc.constantFrom(...states), begunGen: fc.integer({ min: 0, max: 4 }) }), {
      nil: null,
    });
    const wish = fc.record({
      state: fc.constantFrom('running', 'stopped', 'absent'),
      gen: fc.integer({ min: 1, max: 4 }),
    });
    fc.assert(
      fc.property(wish, seen, (target, found) => {
        const desired = container(1, 'true', target);
        const before = found && shows(found.state, found);
        const after = stepsFor(desired, before).reduce(done(desired.gen), before);
        expect(stepsFor(desired, after)).toEqual([]);
      }),
    );
  });
});

/** What Docker shows after a step. */
function done(gen: number) {
  return (seen: SeenContainer | null, step: Step): SeenContainer | null => {
    switch (step) {
      case 'create':
        return shows('created', { createdGen: gen, begunGen: 0 });
      case 'start':
        return seen && { ...seen, state: 'running', begunGen: gen };
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
