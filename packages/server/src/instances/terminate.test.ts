import { describe, expect, it } from 'vitest';
import { decide } from './decide.ts';
import type { Decision } from './decision.ts';
import type { InstanceSnapshot } from './snapshot.ts';
import { ago, machine, NOW, op, snapshot } from './testing/snapshots.ts';

describe('a server whose desired state is gone', () => {
  const going = { status: 'terminating', desired: 'gone' } as const;
  const started = { start: op('start') };
  it.each<[string, InstanceSnapshot, Partial<Decision>]>([
    [
      'is terminated at once when no cloud was ever asked',
      snapshot({ ...going, provider_ref: null }),
      { isGone: true, to: 'terminated' },
    ],
    [
      'is deleted at the cloud',
      snapshot(going, { machine: machine('running'), ops: started }),
      { effect: 'terminate' },
    ],
    [
      'is deleted by its ref when the cloud’s list lags and does not show it',
      snapshot(going, { ops: started }),
      { effect: 'terminate' },
    ],
    [
      'is deleted by the ref of a start that was answered after the desired state had changed',
      snapshot({ ...going, provider_ref: null }, { ops: { start: op('start', { params: { ref: 'm-7' } }) } }),
      { effect: 'terminate' },
    ],
    [
      'is waited for while the cloud deletes it',
      snapshot(going, {
        machine: machine('terminating'),
        ops: { ...started, terminate: op('terminate', { created_at: ago(9) }) },
      }),
      { requeueAfterMs: 2_000 },
    ],
    [
      'is deleted again when the cloud said "done" and still shows it',
      snapshot(going, {
        machine: machine('running'),
        ops: { ...started, terminate: op('terminate', { created_at: ago(9) }) },
      }),
      { effect: 'terminate' },
    ],
    [
      'is not terminated at the first look without the machine',
      snapshot(going, { ops: { ...started, terminate: op('terminate') } }),
      { set: { misses: 1, missed_at: NOW }, requeueAfterMs: 1_000 },
    ],
    [
      'is terminated at the second look without the machine',
      snapshot({ ...going, misses: 1, missed_at: ago(1) }, { ops: { ...started, terminate: op('terminate') } }),
      { isGone: true, to: 'terminated', requeueAfterMs: null },
    ],
    [
      'is not terminated for two minutes when a start was never answered',
      snapshot(
        { ...going, provider_ref: null, misses: 1, missed_at: ago(40) },
        { ops: { start: op('start', { state: 'intent', created_at: ago(100) }) } },
      ),
      { set: { misses: 2, missed_at: NOW } },
    ],
    [
      'is terminated after that',
      snapshot(
        { ...going, provider_ref: null, misses: 1, missed_at: ago(40) },
        { ops: { start: op('start', { state: 'intent', created_at: ago(130) }) } },
      ),
      { isGone: true },
    ],
  ])('%s', (_, given, expected) => {
    expect(decide(given)).toMatchObject(expected);
  });

  it('keeps showing why its creation failed once it is cleaned up', () => {
    const decision = decide(snapshot({ status: 'creation failed', desired: 'gone', provider_ref: null }));
    expect(decision).toMatchObject({ isGone: true, requeueAfterMs: null });
    expect((decision as { to?: string }).to).toBeUndefined();
  });
});
