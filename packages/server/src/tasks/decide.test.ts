import { FROZEN_DAYS } from '@stagi/contract/taskRules.ts';
import { describe, expect, it } from 'vitest';
import { ZERO_BALANCE } from '../billing/zero.ts';
import { CONTAINER_GONE, SERVER_STOPPED } from '../containers/reasons.ts';
import { decide, type PlacedContainer, type PlacedTask, retryDelayMs, type TaskStep } from './decide.ts';
import { AROUND, ago, BEFORE, container, DAY, ended, exited, own, placed, report } from './testing/placedTasks.ts';

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
  const ZERO = { isDisabled: false, exhaustedAt: ago(2) };
  const canceling = (given: PlacedContainer, change: Partial<PlacedTask> = {}): PlacedTask =>
    placed({ status: 'canceling', cancelAskedAt: ago(1), container: given, ...change });

  it.each<[string, PlacedTask, Partial<TaskStep>]>([
    ['stops its container', canceling(container()), { do: 'steer', desired: 'stopped' }],
    ['stops a frozen one', canceling(container({ desired: 'paused' })), { do: 'steer', desired: 'stopped' }],
    [
      'gives its programs time to end at zero balance',
      canceling(container(), { cancelAskedAt: ago(0), workspace: ZERO }),
      { do: 'steer', desired: 'stopped' },
    ],
    [
      'waits for them for a minute',
      canceling(container({ status: 'stopping', desired: 'stopped' }), { cancelAskedAt: ago(0.5), workspace: ZERO }),
      { do: 'tell', deadline: new Date(ago(0.5).getTime() + 60_000) },
    ],
    [
      'waits for them no longer',
      canceling(container({ status: 'stopping', desired: 'stopped' }), { cancelAskedAt: ago(1), workspace: ZERO }),
      { do: 'steer', desired: 'absent' },
    ],
    [
      'removes it at zero balance once it has ended',
      canceling(container({ status: 'stopped', desired: 'stopped', ...ended(143) }), {
        cancelAskedAt: ago(0.5),
        workspace: ZERO,
      }),
      { do: 'steer', desired: 'absent' },
    ],
    [
      'waits for nothing when its storage is deleted at zero balance',
      canceling(container(), { cancelAskedAt: ago(0), workspace: ZERO, storage: 'terminating' }),
      { do: 'steer', desired: 'absent' },
    ],
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
