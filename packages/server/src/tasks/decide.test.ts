import { ContainerStatus } from '@stagi/contract/containers.ts';
import type { ActualTask } from '@stagi/contract/daemon.ts';
import { FROZEN_DAYS, TASK_MOVES, UNSEEN_HOURS } from '@stagi/contract/taskRules.ts';
import { describe, expect, it } from 'vitest';
import { ZERO_BALANCE } from '../billing/zero.ts';
import { CONTAINER_GONE, SERVER_STOPPED } from '../containers/reasons.ts';
import { decide, hasEnded, type PlacedContainer, type PlacedTask, retryDelayMs, type TaskStep } from './decide.ts';
import type { Surroundings } from './waiting.ts';

const NOW = new Date('2026-11-26T12:00:00Z');
const ago = (minutes: number): Date => new Date(NOW.getTime() - minutes * 60_000);
const DAY = 24 * 60;

const report = (phase: ActualTask['phase'], more: Partial<ActualTask> = {}): ActualTask => ({
  phase,
  files: 0,
  bytes: 0,
  skipped: 0,
  error: null,
  timedOut: false,
  interrupted: false,
  ...more,
});

const BEFORE = { startedAt: null, finishedAt: null, exitCode: null };
const RUNS = { startedAt: ago(30), finishedAt: null, exitCode: null };
const ended = (exitCode: number | null) => ({ startedAt: ago(30), finishedAt: ago(1), exitCode });

const container = (change: Partial<PlacedContainer> = {}): PlacedContainer => ({
  status: 'running',
  statusReason: null,
  statusSince: ago(1),
  desired: 'running',
  hasFailedForGood: false,
  report: report('ready'),
  ...RUNS,
  ...change,
});

const AROUND: Surroundings = {
  server: { kind: 'rented', status: 'online', isAttached: true, runsTasks: true },
  project: 'active',
  storage: 'rented',
  workspace: { isDisabled: false, exhaustedAt: null },
};
const own = (exhaustedAt: Date | null): Partial<Surroundings> => ({
  server: { ...AROUND.server, kind: 'self-hosted' },
  workspace: { isDisabled: false, exhaustedAt },
});

const placed = (change: Partial<PlacedTask> = {}): PlacedTask => ({
  ...AROUND,
  status: 'running',
  cancelAskedAt: null,
  cancelReason: null,
  timeLimitMinutes: null,
  retries: 0,
  retryOnFailure: false,
  runNumber: 1,
  container: container(),
  now: NOW,
  ...change,
});

const exited = (code: number, more: Partial<PlacedContainer> = {}): PlacedContainer =>
  container({
    status: code === 0 ? 'exited' : 'failed',
    statusReason: code === 0 ? null : `It ended with exit code ${code}`,
    desired: 'stopped',
    report: report('saved'),
    ...ended(code),
    ...more,
  });

describe('the next step of a task that has its place', () => {
  it.each<[string, PlacedTask, Partial<TaskStep>]>([
    [
      'waits while its files are put in',
      placed({ status: 'in queue', container: container({ status: 'creating', ...BEFORE }) }),
      { do: 'tell', reason: 'Preparing on its server' },
    ],
    ['has started once its container has', placed({ status: 'in queue' }), { do: 'start' }],
    ['runs', placed(), { do: 'tell', reason: null, deadline: null }],
    [
      'runs on while nobody sees it, and says until when',
      placed({ container: container({ status: 'unresponsive', statusReason: 'Its server cannot be reached' }) }),
      { do: 'tell', reason: 'Its server cannot be reached', deadline: new Date(ago(1).getTime() + 24 * 3_600_000) },
    ],
    [
      'fails when nobody has seen it for a day, and is not tried again',
      placed({ retries: 5, container: container({ status: 'unresponsive', statusSince: ago(DAY) }) }),
      { do: 'end', as: 'failed', reason: 'Nobody has seen it for 24 hours' },
    ],
    [
      'has ended though Docker noted the end a moment before the start',
      placed({
        container: exited(0, {
          report: report('saved'),
          startedAt: ago(1),
          finishedAt: new Date(ago(1).getTime() - 2),
        }),
      }),
      { do: 'end', as: 'done' },
    ],
    [
      'runs until its output is stored',
      placed({ container: exited(0, { report: report('saving') }) }),
      { do: 'tell', reason: 'Its output is being stored' },
    ],
    [
      'says why its output is not stored yet',
      placed({ container: exited(0, { report: report('saving', { error: 'The storage is full' }) }) }),
      { do: 'tell', reason: 'Its output cannot be stored yet: The storage is full' },
    ],
    [
      'gives up its output after a day',
      placed({
        container: exited(0, {
          startedAt: ago(2 * DAY),
          finishedAt: ago(DAY),
          report: report('saving', { error: 'Full' }),
        }),
      }),
      { do: 'end', as: 'failed', reason: 'Its output could not be stored: Full' },
    ],
    ['is done', placed({ container: exited(0) }), { do: 'end', as: 'done', reason: null }],
    [
      'fails without its output',
      placed({
        retries: 5,
        retryOnFailure: true,
        container: exited(0, { report: report('not saved', { error: 'Gone' }) }),
      }),
      { do: 'end', as: 'failed', reason: 'Its output could not be stored: Gone' },
    ],
    [
      'fails by its exit code',
      placed({ retries: 5, container: exited(3) }),
      { do: 'end', as: 'failed', reason: 'It ended with exit code 3' },
    ],
    [
      'is tried again after a non-zero exit where asked for',
      placed({ retries: 1, retryOnFailure: true, container: exited(3) }),
      { do: 'retry', reason: 'It ended with exit code 3', afterMs: 10_000 },
    ],
    [
      'is not tried again once its retries are used up',
      placed({ retries: 1, retryOnFailure: true, runNumber: 2, container: exited(3) }),
      { do: 'end', as: 'failed', reason: 'It ended with exit code 3' },
    ],
    [
      'fails without memory, which is its own exit',
      placed({ retries: 5, container: exited(137, { statusReason: 'It ran out of memory' }) }),
      { do: 'end', as: 'failed', reason: 'It ran out of memory' },
    ],
    [
      'fails at its time limit',
      placed({
        retries: 5,
        retryOnFailure: true,
        timeLimitMinutes: 30,
        container: exited(137, { report: report('saved', { timedOut: true }) }),
      }),
      { do: 'end', as: 'failed', reason: 'It was stopped at its time limit of 30 minutes' },
    ],
    [
      'is tried again when its server restarted',
      placed({ retries: 2, runNumber: 2, container: exited(137, { report: report('saved', { interrupted: true }) }) }),
      { do: 'retry', reason: 'Its server restarted', afterMs: 20_000 },
    ],
    [
      'fails when its server was stopped',
      placed({
        server: { ...AROUND.server, status: 'stopped' },
        container: container({ status: 'stopped', statusReason: SERVER_STOPPED }),
      }),
      { do: 'end', as: 'failed', reason: 'Its server was stopped' },
    ],
    [
      'is tried again when somebody removed its container',
      placed({ retries: 1, container: container({ status: 'failed', statusReason: CONTAINER_GONE }) }),
      { do: 'retry', reason: CONTAINER_GONE, afterMs: 10_000 },
    ],
    [
      'fails with its server',
      placed({
        retries: 5,
        server: { ...AROUND.server, status: 'terminated' },
        container: container({ status: 'deleted', statusReason: 'Its server is gone' }),
      }),
      { do: 'end', as: 'failed', reason: 'Its server is gone' },
    ],
    [
      'is tried again when it could not be created in time',
      placed({
        status: 'in queue',
        retries: 1,
        container: container({ status: 'creation failed', statusReason: 'No answer', desired: 'absent', ...BEFORE }),
      }),
      { do: 'retry', reason: 'No answer', afterMs: 10_000 },
    ],
    [
      'is not tried again when it can never be created',
      placed({
        status: 'in queue',
        retries: 1,
        container: container({
          status: 'creation failed',
          statusReason: 'No such image',
          desired: 'absent',
          hasFailedForGood: true,
          ...BEFORE,
        }),
      }),
      { do: 'end', as: 'failed', reason: 'No such image' },
    ],
    [
      'is not tried again in an archived project',
      placed({
        retries: 1,
        project: 'archived',
        container: container({ status: 'failed', statusReason: CONTAINER_GONE }),
      }),
      { do: 'end', as: 'failed', reason: CONTAINER_GONE },
    ],
    ['goes on in an archived project', placed({ project: 'archived' }), { do: 'tell', reason: null }],
    [
      'goes on when its server was detached',
      placed({ server: { ...AROUND.server, isAttached: false } }),
      { do: 'tell', reason: null },
    ],
    ['ends with its project', placed({ project: 'deleting' }), { do: 'cancel', reason: 'Its project was deleted' }],
    ['ends with its storage', placed({ storage: 'terminating' }), { do: 'cancel', reason: 'Its storage was deleted' }],
    [
      'ends at once in a disabled workspace',
      placed({ workspace: { isDisabled: true, exhaustedAt: null } }),
      { do: 'end', as: 'canceled', reason: 'The workspace was disabled by an operator' },
    ],
    [
      'ends with the balance on a rented server',
      placed({ workspace: { isDisabled: false, exhaustedAt: ago(0) } }),
      { do: 'cancel', reason: ZERO_BALANCE },
    ],
    ['is frozen without a balance on an own server', placed(own(ago(0))), { do: 'steer', desired: 'paused' }],
    [
      'says until when it is frozen',
      placed({ ...own(ago(10)), container: container({ desired: 'paused' }) }),
      { do: 'tell', reason: ZERO_BALANCE, deadline: new Date(ago(10).getTime() + FROZEN_DAYS * DAY * 60_000) },
    ],
    [
      'goes on after a credit',
      placed({ ...own(null), container: container({ desired: 'paused' }) }),
      { do: 'steer', desired: 'running' },
    ],
    [
      'ends when it was frozen for two weeks',
      placed({ ...own(ago(FROZEN_DAYS * DAY)), container: container({ desired: 'paused' }) }),
      { do: 'cancel', reason: ZERO_BALANCE },
    ],
  ])('%s', (_, task, step) => expect(decide(task)).toMatchObject(step));
});

describe('canceling a task that has its place', () => {
  const canceling = (given: PlacedContainer, change: Partial<PlacedTask> = {}): PlacedTask =>
    placed({ status: 'canceling', cancelAskedAt: ago(1), container: given, ...change });

  it.each<[string, PlacedTask, Partial<TaskStep>]>([
    ['stops its container', canceling(container()), { do: 'steer', desired: 'stopped' }],
    ['stops a frozen one', canceling(container({ desired: 'paused' })), { do: 'steer', desired: 'stopped' }],
    [
      'removes one that has not started',
      canceling(container({ status: 'starting', ...BEFORE })),
      { do: 'steer', desired: 'absent' },
    ],
    [
      'waits for its output',
      canceling(container({ status: 'stopped', desired: 'stopped', ...ended(null), report: report('saving') })),
      { do: 'tell', deadline: new Date(ago(1).getTime() + 10 * 60_000) },
    ],
    [
      'gives up its output after ten minutes',
      canceling(
        container({
          status: 'stopped',
          statusSince: ago(10),
          desired: 'stopped',
          ...ended(null),
          report: report('saving'),
        }),
        { cancelAskedAt: ago(11) },
      ),
      { do: 'end', as: 'canceled' },
    ],
    [
      'removes one that does not stop',
      canceling(
        container({
          status: 'failed',
          statusReason: 'It did not stop in time',
          statusSince: ago(10),
          desired: 'stopped',
        }),
        { cancelAskedAt: ago(11) },
      ),
      { do: 'steer', desired: 'absent' },
    ],
    [
      'removes it when nothing can be stored',
      canceling(container({ desired: 'running' }), { storage: 'terminating' }),
      { do: 'steer', desired: 'absent' },
    ],
    [
      'ends when all is stored',
      canceling(container({ status: 'stopped', desired: 'stopped', ...ended(null), report: report('saved') }), {
        cancelReason: ZERO_BALANCE,
      }),
      { do: 'end', as: 'canceled', reason: ZERO_BALANCE },
    ],
    [
      'ends when it is gone',
      canceling(container({ status: 'deleted', desired: 'absent' })),
      { do: 'end', as: 'canceled' },
    ],
    [
      'waits until its server is seen',
      canceling(
        container({ status: 'unresponsive', statusReason: 'Its server cannot be reached', desired: 'stopped' }),
      ),
      { do: 'tell', reason: 'Its server cannot be reached' },
    ],
    [
      'ends after a day without a sight of it',
      canceling(container({ status: 'unresponsive', statusSince: ago(DAY), desired: 'stopped' })),
      { do: 'end', as: 'canceled' },
    ],
    [
      'ends with the stop of its server',
      canceling(container({ status: 'stopped', statusReason: SERVER_STOPPED, desired: 'stopped' })),
      { do: 'end', as: 'canceled' },
    ],
  ])('%s', (_, task, step) => expect(decide(task)).toMatchObject(step));
});

it('doubles the pause before each retry, up to ten minutes', () => {
  expect([1, 2, 3, 4, 5, 6, 7, 8].map(retryDelayMs)).toEqual(
    [10, 20, 40, 80, 160, 320, 600, 600].map((seconds) => seconds * 1000),
  );
});

describe('every combination of states', () => {
  const SURROUNDINGS: Partial<Surroundings>[] = [
    {},
    own(null),
    { server: { ...AROUND.server, status: 'stopped' } },
    { server: { ...AROUND.server, status: 'terminated' } },
    { server: { ...AROUND.server, isAttached: false } },
    { project: 'archived' },
    { project: 'deleting' },
    { storage: 'terminating' },
    { workspace: { isDisabled: true, exhaustedAt: null } },
    { workspace: { isDisabled: false, exhaustedAt: ago(5) } },
    own(ago(5)),
    own(ago(15 * DAY)),
  ];
  const TIMES = [BEFORE, RUNS, ended(0), ended(1), ended(null)];
  const REPORTS = [
    null,
    report('preparing'),
    report('ready'),
    report('saving'),
    report('saved'),
    report('not saved'),
    report('saved', { interrupted: true }),
    report('saved', { timedOut: true }),
  ];
  const REASONS = [null, CONTAINER_GONE, SERVER_STOPPED];

  function* all(): Generator<PlacedTask> {
    for (const status of ['in queue', 'running', 'canceling'] as const)
      for (const around of SURROUNDINGS)
        for (const containerStatus of ContainerStatus.options)
          for (const desired of ['running', 'paused', 'stopped', 'absent'] as const)
            for (const times of TIMES)
              for (const given of REPORTS)
                for (const statusReason of REASONS)
                  for (const hours of [0, UNSEEN_HOURS])
                    for (const retries of [0, 5])
                      yield placed({
                        ...around,
                        status,
                        cancelAskedAt: status === 'canceling' ? ago(hours * 60) : null,
                        retries,
                        retryOnFailure: retries > 0,
                        container: container({
                          status: containerStatus,
                          statusReason,
                          statusSince: ago(hours * 60),
                          desired,
                          report: given,
                          ...times,
                        }),
                      });
  }

  /** What a step changes of the facts; null: the run has ended. */
  function applied(task: PlacedTask, step: TaskStep): PlacedTask | null {
    switch (step.do) {
      case 'start':
        return { ...task, status: 'running' };
      case 'cancel':
        return { ...task, status: 'canceling', cancelAskedAt: NOW, cancelReason: step.reason };
      case 'steer':
        return { ...task, container: { ...task.container, desired: step.desired } };
      case 'tell':
        return task;
      case 'end':
      case 'retry':
        return null;
    }
  }

  const isOver = ({ container: { status, statusReason, statusSince, startedAt, ...times } }: PlacedTask): boolean =>
    hasEnded({ startedAt, ...times }) ||
    status === 'creation failed' ||
    status === 'deleted' ||
    (status === 'failed' && (!startedAt || statusReason === CONTAINER_GONE)) ||
    (status === 'stopped' && statusReason === SERVER_STOPPED) ||
    NOW.getTime() - statusSince.getTime() >= UNSEEN_HOURS * 3_600_000;

  it('keeps the rules, and comes to rest', () => {
    let n = 0;
    const rests: Record<string, number> = {};
    for (const task of all()) {
      n += 1;
      let now: PlacedTask = task;
      let step = decide(now);
      for (let steps = 1; ; steps += 1) {
        const about = () => JSON.stringify({ now, step });
        if (steps > 5) throw new Error(`does not come to rest: ${about()}`);
        const { container: one } = now;
        if (step.do === 'end') {
          if (now.status === 'canceling' && step.as !== 'canceled') throw new Error(`left canceling: ${about()}`);
          if (step.as === 'failed' && !step.reason) throw new Error(`failed without a reason: ${about()}`);
          if (step.as === 'done' && !(one.status === 'exited' && hasEnded(one) && one.report?.phase === 'saved'))
            throw new Error(`done before its end: ${about()}`);
          if (step.as !== 'canceled' && !TASK_MOVES[now.status].includes(step.as))
            throw new Error(`an impossible move: ${about()}`);
          if (!now.workspace.isDisabled && !isOver(now)) throw new Error(`ended while it may run: ${about()}`);
        }
        if (step.do === 'retry') {
          if (now.runNumber > now.retries || now.status === 'canceling' || !isOver(now))
            throw new Error(`tried again: ${about()}`);
          if (one.report?.timedOut && hasEnded(one) && one.status === 'failed' && one.statusReason === null)
            throw new Error(`tried again after its time limit: ${about()}`);
        }
        if (step.do === 'steer') {
          if (one.desired === 'absent' || (one.desired === 'stopped' && step.desired !== 'absent'))
            throw new Error(`brought back: ${about()}`);
          if (step.desired === 'running' && (one.desired !== 'paused' || hasEnded(one)))
            throw new Error(`started: ${about()}`);
        }
        if (step.do === 'tell') {
          if (now.status === 'canceling' && !['stopped', 'absent'].includes(one.desired))
            throw new Error(`canceling, but not stopped: ${about()}`);
          if (now.status === 'in queue' && !step.reason) throw new Error(`waits without a reason: ${about()}`);
          const isFrozen = now.server.kind === 'self-hosted' && now.workspace.exhaustedAt !== null;
          if (now.status !== 'canceling' && !hasEnded(one) && one.desired === (isFrozen ? 'running' : 'paused'))
            throw new Error(`frozen wrongly: ${about()}`);
        }
        const next = applied(now, step);
        if (next === null || step.do === 'tell') break;
        now = next;
        step = decide(now);
      }
      const rest = step.do === 'end' ? step.as : step.do === 'tell' ? now.status : step.do;
      rests[rest] = (rests[rest] ?? 0) + 1;
    }
    console.log(`decide: n = ${n} states, at rest: ${JSON.stringify(rests)}`);
    expect(Object.keys(rests).toSorted()).toEqual([
      'canceled',
      'canceling',
      'done',
      'failed',
      'in queue',
      'retry',
      'running',
    ]);
  });
});
