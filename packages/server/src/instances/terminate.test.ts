import { describe, expect, it } from 'vitest';
import { decide } from './decide.ts';
import type { Decision } from './decision.ts';
import { ago, machine, NOW, op, world } from './testing/worlds.ts';
import type { World } from './world.ts';

describe('a server that is to be gone', () => {
  const going = { status: 'terminating', desired: 'gone' } as const;
  const started = { start: op('start') };
  it.each<[string, World, Partial<Decision>]>([
    [
      'is gone at once when no cloud was ever asked',
      world({ ...going, provider_ref: null }),
      { isGone: true, to: 'terminated' },
    ],
    ['is deleted at the cloud', world(going, { machine: machine('running'), ops: started }), { effect: 'terminate' }],
    [
      'is deleted by its name at the cloud when a list that lags does not show it',
      world(going, { ops: started }),
      { effect: 'terminate' },
    ],
    [
      'is deleted by what a start answered after the wish had changed',
      world({ ...going, provider_ref: null }, { ops: { start: op('start', { params: { ref: 'm-7' } }) } }),
      { effect: 'terminate' },
    ],
    [
      'is waited for while the cloud deletes it',
      world(going, {
        machine: machine('terminating'),
        ops: { ...started, terminate: op('terminate', { created_at: ago(9) }) },
      }),
      { againMs: 2_000 },
    ],
    [
      'is deleted again when the cloud said "done" and still shows it',
      world(going, {
        machine: machine('running'),
        ops: { ...started, terminate: op('terminate', { created_at: ago(9) }) },
      }),
      { effect: 'terminate' },
    ],
    [
      'is not believed gone at the first look',
      world(going, { ops: { ...started, terminate: op('terminate') } }),
      { set: { misses: 1, missed_at: NOW }, againMs: 1_000 },
    ],
    [
      'is believed gone at the second look',
      world({ ...going, misses: 1, missed_at: ago(1) }, { ops: { ...started, terminate: op('terminate') } }),
      { isGone: true, to: 'terminated', againMs: null },
    ],
    [
      'is not believed gone for two minutes when a start was never answered',
      world(
        { ...going, provider_ref: null, misses: 1, missed_at: ago(40) },
        { ops: { start: op('start', { state: 'intent', created_at: ago(100) }) } },
      ),
      { set: { misses: 2, missed_at: NOW } },
    ],
    [
      'is believed gone after that',
      world(
        { ...going, provider_ref: null, misses: 1, missed_at: ago(40) },
        { ops: { start: op('start', { state: 'intent', created_at: ago(130) }) } },
      ),
      { isGone: true },
    ],
  ])('%s', (_, given, expected) => {
    expect(decide(given)).toMatchObject(expected);
  });

  it('keeps showing why its creation failed once it is cleaned up', () => {
    const decision = decide(world({ status: 'creation failed', desired: 'gone', provider_ref: null }));
    expect(decision).toMatchObject({ isGone: true, againMs: null });
    expect((decision as { to?: string }).to).toBeUndefined();
  });
});
