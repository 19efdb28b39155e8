import { RENTED_MOVES, RentedStatus } from '@stagi/contract/instances.ts';
import { describe, expect, it } from 'vitest';
import { backoffMs } from '../reconcile/backoff.ts';
import { decide, decideWithoutCloud } from './decide.ts';
import type { Decision } from './decision.ts';
import type { InstanceSnapshot } from './snapshot.ts';
import { ago, daemon, machine, NOW, op, past, snapshot } from './testing/snapshots.ts';

describe('the next step of a rented server', () => {
  it.each<[string, InstanceSnapshot, Partial<Decision>]>([
    ['starts the machine', snapshot({ status: 'in queue', provider_ref: null }), { effect: 'start' }],
    [
      'retries with the same intent when the answer was lost and no machine shows',
      snapshot({ status: 'in queue', provider_ref: null }, { ops: { start: op('start', { state: 'intent' }) } }),
      { effect: 'start' },
    ],
    [
      'takes over the machine of an unanswered start',
      snapshot(
        { status: 'in queue', provider_ref: null },
        { ops: { start: op('start', { state: 'intent' }) }, machine: machine('creating') },
      ),
      { to: 'creating' },
    ],
    ['gives up past the deadline', snapshot({ status: 'in queue', ...past }), { to: 'creation failed' }],
    [
      'waits for the daemon of a machine that runs',
      snapshot({ status: 'creating' }, { machine: machine('running') }),
      { reached: ['booting'] },
    ],
    [
      'is ready once the daemon came',
      snapshot({ status: 'creating' }, { machine: machine('running'), daemon: daemon() }),
      { to: 'online' },
    ],
    [
      'is not ready while the daemon is away again',
      snapshot({ status: 'creating' }, { machine: machine('running'), daemon: daemon({ disconnectedAt: ago(1) }) }),
      { reached: ['booting'] },
    ],
    [
      'trusts the cloud’s state where no daemon runs',
      snapshot({ status: 'creating' }, { machine: machine('running'), traits: { readiness: 'provider' } }),
      { to: 'online' },
    ],
    [
      'waits for an address where no daemon runs',
      snapshot({ status: 'creating' }, { machine: machine('running', null), traits: { readiness: 'provider' } }),
      { reached: ['booting'] },
    ],
    [
      'fails when the machine fails',
      snapshot({ status: 'creating' }, { machine: machine('error') }),
      { to: 'creation failed' },
    ],
    [
      'fails past the deadline even though the machine runs',
      snapshot({ status: 'creating', ...past }, { machine: machine('running') }),
      { to: 'creation failed' },
    ],
    ['counts a first absence', snapshot({ status: 'online' }), { set: { misses: 1, missed_at: NOW } }],
    [
      'does not count the same absence twice',
      snapshot({ status: 'online', misses: 1, missed_at: ago(10) }),
      { set: { misses: 1, missed_at: ago(10) }, requeueAfterMs: 20_000 },
    ],
    [
      'confirms a second absence 30 s later',
      snapshot({ status: 'online', misses: 1, missed_at: ago(30) }),
      { to: 'error' },
    ],
    [
      'does not confirm the absence of a young machine',
      snapshot(
        { status: 'creating', misses: 1, missed_at: ago(30) },
        { ops: { start: op('start', { created_at: ago(100) }) } },
      ),
      { set: { misses: 2, missed_at: NOW } },
    ],
    [
      'resets the absence once it is seen again',
      snapshot({ status: 'online', misses: 1, missed_at: ago(30) }, { machine: machine('running') }),
      { requeueAfterMs: 30_000 },
    ],
    [
      'confirms a stop at the cloud when seen twice',
      snapshot({ status: 'online', misses: 1, missed_at: ago(6) }, { machine: machine('stopped') }),
      { to: 'error' },
    ],
    [
      'goes from error to stopped when the machine is stopped',
      snapshot({ status: 'error' }, { machine: machine('stopped') }),
      { to: 'stopped' },
    ],
    [
      'goes from error to online once its daemon sends heartbeats',
      snapshot({ status: 'error' }, { machine: machine('running'), daemon: daemon() }),
      { to: 'online' },
    ],
    [
      'stays in error while its daemon is silent',
      snapshot({ status: 'error' }, { machine: machine('running'), daemon: daemon({ seenAt: ago(100) }) }),
      { requeueAfterMs: 30_000 },
    ],
    [
      'requests a stop',
      snapshot({ status: 'powering off', desired: 'stopped' }, { machine: machine('running') }),
      { effect: 'stop' },
    ],
    [
      'does not repeat a request that was accepted just now',
      snapshot(
        { status: 'powering off', desired: 'stopped' },
        { machine: machine('running'), ops: { stop: op('stop', { created_at: ago(3) }) } },
      ),
      { requeueAfterMs: 2_000 },
    ],
    [
      'retries a stop that shows no effect for 30 s',
      snapshot(
        { status: 'powering off', desired: 'stopped' },
        { machine: machine('running'), ops: { stop: op('stop', { created_at: ago(31) }) } },
      ),
      { effect: 'stop' },
    ],
    [
      'is stopped when the cloud shows it',
      snapshot({ status: 'powering off', desired: 'stopped' }, { machine: machine('stopped') }),
      { to: 'stopped' },
    ],
    [
      'is in error when it cannot be stopped in time',
      snapshot({ status: 'powering off', desired: 'stopped', ...past }, { machine: machine('stopping') }),
      { to: 'error' },
    ],
    [
      'stops again what was started at the cloud',
      snapshot({ status: 'stopped', desired: 'stopped' }, { machine: machine('running') }),
      { effect: 'stop' },
    ],
    [
      'requests a start of a stopped machine',
      snapshot({ status: 'powering on' }, { machine: machine('stopped') }),
      { effect: 'resume' },
    ],
    [
      'stays stopped when the cloud does not start it in time',
      snapshot({ status: 'powering on', ...past }, { machine: machine('stopped') }),
      { to: 'stopped', set: { desired: 'stopped', gen: 2 } },
    ],
    [
      'is unresponsive when it runs but its daemon does not come in time',
      snapshot(
        { status: 'powering on', ...past },
        { machine: machine('running'), daemon: daemon({ connectedAt: ago(900) }) },
      ),
      { to: 'unresponsive' },
    ],
    [
      'is not back with the connection from before the stop',
      snapshot({ status: 'powering on' }, { machine: machine('running'), daemon: daemon({ connectedAt: ago(900) }) }),
      { requeueAfterMs: 2_000 },
    ],
    [
      'requests a reboot',
      snapshot({ status: 'rebooting', reboot_wanted: 1 }, { machine: machine('running') }),
      { effect: 'reboot' },
    ],
    [
      'is not back while the connection from before the reboot is open',
      snapshot(
        { status: 'rebooting', reboot_wanted: 1, reboot_done: 1 },
        {
          machine: machine('running'),
          ops: { reboot: op('reboot', { created_at: ago(20) }) },
          daemon: daemon({ connectedAt: ago(500) }),
        },
      ),
      { requeueAfterMs: 2_000 },
    ],
    [
      'is back with a connection newer than the reboot, even if the cloud’s answer to it was lost',
      snapshot(
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
      snapshot({ status: 'rebooting', reboot_wanted: 1, reboot_done: 1, ...past }, { machine: machine('running') }),
      { to: 'unresponsive' },
    ],
  ])('%s', (_, given, expected) => {
    expect(decide(given)).toMatchObject(expected);
  });
});

describe('every combination of desired, stored and observed state', () => {
  const desiredIn: Record<RentedStatus, InstanceSnapshot['row']['desired'][]> = {
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

  const snapshots = RentedStatus.options
    .flatMap((status) => desiredIn[status].map((desired) => ({ status, desired, reboot_wanted: 1 })))
    .flatMap((row) => [null, ago(1), ago(-60)].map((status_deadline) => ({ ...row, status_deadline })))
    .flatMap((row) => [{ ...row }, { ...row, misses: 1, missed_at: ago(200) }])
    .flatMap((row) => [null, ...states.map((state) => machine(state))].map((seen) => ({ row, machine: seen })))
    .flatMap((cell) => daemons.map((node) => ({ ...cell, daemon: node })))
    .flatMap((cell) => starts.map((start) => ({ ...cell, ops: { start, reboot: op('reboot') } })))
    .flatMap((cell) => (['daemon', 'provider'] as const).map((readiness) => ({ ...cell, traits: { readiness } })))
    .map(({ row, ...cell }) => snapshot({ ...row, provider_ref: cell.ops.start ? 'm-1' : null }, cell));

  it('leads to no transition that the contract does not allow', () => {
    const impossible = snapshots.flatMap((given) =>
      [decide(given), decideWithoutCloud(given)]
        .map((decision) => (decision && 'to' in decision ? decision.to : undefined))
        .filter((to) => to && !RENTED_MOVES[given.row.status].includes(to))
        .map((to) => `${given.row.status} → ${to}`),
    );
    expect([...new Set(impossible)]).toEqual([]);
    expect(snapshots.length).toBeGreaterThan(10_000);
  });

  it('requeues every server until its machine is gone', () => {
    const resting = snapshots
      .map((given) => decide(given))
      .filter((next) => 'requeueAfterMs' in next && next.requeueAfterMs === null);
    expect(resting.length).toBeGreaterThan(0);
    expect(resting.filter((next) => 'isGone' in next && next.isGone)).toHaveLength(resting.length);
  });
});

it('backs off from 1 s to 5 min with jitter', () => {
  expect(backoffMs(0, () => 0)).toBe(100);
  expect(backoffMs(0, () => 1)).toBe(1_000);
  expect(backoffMs(3, () => 1)).toBe(8_000);
  expect(backoffMs(1_000, () => 1)).toBe(300_000);
});
