import { RENTED_MOVES, RentedStatus } from '@stagi/contract/instances.ts';
import { describe, expect, it } from 'vitest';
import { decide, decideBlind } from './decide.ts';
import type { Decision } from './decision.ts';
import { backOffMs } from './pace.ts';
import { ago, daemon, machine, NOW, op, past, world } from './testing/worlds.ts';
import type { World } from './world.ts';

describe('the next step of a rented server', () => {
  it.each<[string, World, Partial<Decision>]>([
    ['asks the cloud for it', world({ status: 'in queue', provider_ref: null }), { effect: 'start' }],
    [
      'asks again with the same intent when the answer was lost and nothing shows',
      world({ status: 'in queue', provider_ref: null }, { ops: { start: op('start', { state: 'intent' }) } }),
      { effect: 'start' },
    ],
    [
      'adopts what an unanswered start made',
      world(
        { status: 'in queue', provider_ref: null },
        { ops: { start: op('start', { state: 'intent' }) }, machine: machine('creating') },
      ),
      { to: 'creating' },
    ],
    ['gives up past the deadline', world({ status: 'in queue', ...past }), { to: 'creation failed' }],
    [
      'waits for the daemon of a machine that runs',
      world({ status: 'creating' }, { machine: machine('running') }),
      { reached: ['booting'] },
    ],
    [
      'is ready once the daemon came',
      world({ status: 'creating' }, { machine: machine('running'), daemon: daemon() }),
      { to: 'online' },
    ],
    [
      'is not ready while the daemon is away again',
      world({ status: 'creating' }, { machine: machine('running'), daemon: daemon({ disconnectedAt: ago(1) }) }),
      { reached: ['booting'] },
    ],
    [
      'takes the cloud’s word where no daemon runs',
      world({ status: 'creating' }, { machine: machine('running'), traits: { readiness: 'provider' } }),
      { to: 'online' },
    ],
    [
      'waits for an address where no daemon runs',
      world({ status: 'creating' }, { machine: machine('running', null), traits: { readiness: 'provider' } }),
      { reached: ['booting'] },
    ],
    [
      'fails when the machine fails',
      world({ status: 'creating' }, { machine: machine('error') }),
      { to: 'creation failed' },
    ],
    [
      'fails past the deadline even though the machine runs',
      world({ status: 'creating', ...past }, { machine: machine('running') }),
      { to: 'creation failed' },
    ],
    ['counts a first absence', world({ status: 'online' }), { set: { misses: 1, missed_at: NOW } }],
    [
      'does not count the same absence twice',
      world({ status: 'online', misses: 1, missed_at: ago(10) }),
      { set: { misses: 1, missed_at: ago(10) }, againMs: 20_000 },
    ],
    [
      'believes a second absence 30 s later',
      world({ status: 'online', misses: 1, missed_at: ago(30) }),
      { to: 'error' },
    ],
    [
      'believes no absence of a young machine',
      world(
        { status: 'creating', misses: 1, missed_at: ago(30) },
        { ops: { start: op('start', { created_at: ago(100) }) } },
      ),
      { set: { misses: 2, missed_at: NOW } },
    ],
    [
      'forgets an absence once it is seen again',
      world({ status: 'online', misses: 1, missed_at: ago(30) }, { machine: machine('running') }),
      { againMs: 30_000 },
    ],
    [
      'believes a stop past us when seen twice',
      world({ status: 'online', misses: 1, missed_at: ago(6) }, { machine: machine('stopped') }),
      { to: 'error' },
    ],
    [
      'shows as stopped what was in error and is stopped',
      world({ status: 'error' }, { machine: machine('stopped') }),
      { to: 'stopped' },
    ],
    [
      'is back from error once its daemon is heard',
      world({ status: 'error' }, { machine: machine('running'), daemon: daemon() }),
      { to: 'online' },
    ],
    [
      'stays in error while its daemon is silent',
      world({ status: 'error' }, { machine: machine('running'), daemon: daemon({ seenAt: ago(100) }) }),
      { againMs: 30_000 },
    ],
    [
      'asks for a stop',
      world({ status: 'powering off', desired: 'stopped' }, { machine: machine('running') }),
      { effect: 'stop' },
    ],
    [
      'does not ask twice for what was accepted just now',
      world(
        { status: 'powering off', desired: 'stopped' },
        { machine: machine('running'), ops: { stop: op('stop', { created_at: ago(3) }) } },
      ),
      { againMs: 2_000 },
    ],
    [
      'asks again for a stop that shows no effect for 30 s',
      world(
        { status: 'powering off', desired: 'stopped' },
        { machine: machine('running'), ops: { stop: op('stop', { created_at: ago(31) }) } },
      ),
      { effect: 'stop' },
    ],
    [
      'is stopped when the cloud shows it',
      world({ status: 'powering off', desired: 'stopped' }, { machine: machine('stopped') }),
      { to: 'stopped' },
    ],
    [
      'is in error when it cannot be stopped in time',
      world({ status: 'powering off', desired: 'stopped', ...past }, { machine: machine('stopping') }),
      { to: 'error' },
    ],
    [
      'stops again what somebody started past us',
      world({ status: 'stopped', desired: 'stopped' }, { machine: machine('running') }),
      { effect: 'stop' },
    ],
    ['asks for a start again', world({ status: 'powering on' }, { machine: machine('stopped') }), { effect: 'resume' }],
    [
      'stays stopped when the cloud does not start it in time',
      world({ status: 'powering on', ...past }, { machine: machine('stopped') }),
      { to: 'stopped', set: { desired: 'stopped', gen: 2 } },
    ],
    [
      'is unresponsive when it runs but its daemon does not come in time',
      world(
        { status: 'powering on', ...past },
        { machine: machine('running'), daemon: daemon({ connectedAt: ago(900) }) },
      ),
      { to: 'unresponsive' },
    ],
    [
      'is not back with the connection from before',
      world({ status: 'powering on' }, { machine: machine('running'), daemon: daemon({ connectedAt: ago(900) }) }),
      { againMs: 2_000 },
    ],
    [
      'asks for a reboot',
      world({ status: 'rebooting', reboot_wanted: 1 }, { machine: machine('running') }),
      { effect: 'reboot' },
    ],
    [
      'is not back while the daemon of before the reboot still talks',
      world(
        { status: 'rebooting', reboot_wanted: 1, reboot_done: 1 },
        {
          machine: machine('running'),
          ops: { reboot: op('reboot', { created_at: ago(20) }) },
          daemon: daemon({ connectedAt: ago(500) }),
        },
      ),
      { againMs: 2_000 },
    ],
    [
      'is back with a connection newer than the reboot, even if the cloud’s answer to it was lost',
      world(
        { status: 'rebooting', reboot_wanted: 1, reboot_done: 0 },
        {
          machine: machine('running'),
          ops: { reboot: op('reboot', { created_at: ago(20), state: 'intent' }) },
          daemon: daemon({ connectedAt: ago(5) }),
        },
      ),
      { to: 'online', set: { reboot_done: 1 } },
    ],
    [
      'is unresponsive when it does not come back in time',
      world({ status: 'rebooting', reboot_wanted: 1, reboot_done: 1, ...past }, { machine: machine('running') }),
      { to: 'unresponsive' },
    ],
  ])('%s', (_, given, expected) => {
    expect(decide(given)).toMatchObject(expected);
  });
});

describe('over every mix of what is wished, stored and seen', () => {
  const desiredIn: Record<RentedStatus, World['row']['desired'][]> = {
    'in queue': ['running', 'gone'],
    creating: ['running', 'gone'],
    'creation failed': ['gone'],
    online: ['running'],
    rebooting: ['running'],
    'powering off': ['stopped'],
    stopped: ['stopped'],
    'powering on': ['running'],
    unresponsive: ['running'],
    error: ['running', 'stopped'],
    terminating: ['gone'],
    terminated: [],
  };
  const states = ['creating', 'running', 'stopping', 'stopped', 'terminating', 'error'] as const;
  const daemons = [
    null,
    daemon(),
    daemon({ connectedAt: ago(900) }),
    daemon({ seenAt: ago(90), disconnectedAt: ago(1) }),
  ];
  const starts = [undefined, op('start'), op('start', { state: 'intent' })];

  const worlds = RentedStatus.options
    .flatMap((status) => desiredIn[status].map((desired) => ({ status, desired, reboot_wanted: 1 })))
    .flatMap((row) => [null, ago(1), ago(-60)].map((status_deadline) => ({ ...row, status_deadline })))
    .flatMap((row) => [{ ...row }, { ...row, misses: 1, missed_at: ago(200) }])
    .flatMap((row) => [null, ...states.map((state) => machine(state))].map((seen) => ({ row, machine: seen })))
    .flatMap((cell) => daemons.map((node) => ({ ...cell, daemon: node })))
    .flatMap((cell) => starts.map((start) => ({ ...cell, ops: { start, reboot: op('reboot') } })))
    .flatMap((cell) => (['daemon', 'provider'] as const).map((readiness) => ({ ...cell, traits: { readiness } })))
    .map(({ row, ...cell }) => world({ ...row, provider_ref: cell.ops.start ? 'm-1' : null }, cell));

  it('decides on no move that the table of statuses does not hold', () => {
    const impossible = worlds.flatMap((given) =>
      [decide(given), decideBlind(given)]
        .map((decision) => (decision && 'to' in decision ? decision.to : undefined))
        .filter((to) => to && !RENTED_MOVES[given.row.status].includes(to))
        .map((to) => `${given.row.status} → ${to}`),
    );
    expect([...new Set(impossible)]).toEqual([]);
    expect(worlds.length).toBeGreaterThan(10_000);
  });

  it('looks again at every server until nothing is left of it', () => {
    const resting = worlds.map((given) => decide(given)).filter((next) => 'againMs' in next && next.againMs === null);
    expect(resting.length).toBeGreaterThan(0);
    expect(resting.filter((next) => 'isGone' in next && next.isGone)).toHaveLength(resting.length);
  });
});

it('backs off from 1 s to 5 min, never in step', () => {
  expect(backOffMs(0, () => 0)).toBe(100);
  expect(backOffMs(0, () => 1)).toBe(1_000);
  expect(backOffMs(3, () => 1)).toBe(8_000);
  expect(backOffMs(1_000, () => 1)).toBe(300_000);
});
