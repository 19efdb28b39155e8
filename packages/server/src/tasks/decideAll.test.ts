import { ContainerStatus } from '@stagi/contract/containers.ts';
import { TASK_MOVES, UNSEEN_HOURS } from '@stagi/contract/taskRules.ts';
import { describe, expect, it } from 'vitest';
import { CONTAINER_GONE, SERVER_STOPPED } from '../containers/reasons.ts';
import { decide, hasEnded, type PlacedTask, type TaskStep } from './decide.ts';
import { AROUND, ago, BEFORE, container, DAY, ended, NOW, own, placed, RUNS, report } from './testing/placedTasks.ts';
import type { Surroundings } from './waiting.ts';

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
