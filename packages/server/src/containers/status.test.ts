import { CONTAINER_MOVES, type ContainerStatus } from '@stagi/contract/containers.ts';
import type { ActualContainer } from '@stagi/contract/daemon.ts';
import { describe, expect, it } from 'vitest';
import { SERVER_REBOOTING, SERVER_STOPPED, STOPPED_WITH_SERVER } from './reasons.ts';
import { type KnownContainer, observedStatus } from './status.ts';

const STARTED = '2026-01-01T00:00:00.000Z';
const AGAIN = '2026-01-02T00:00:00.000Z';

const row = (
  status: ContainerStatus,
  desired: KnownContainer['desired'],
  more: Partial<KnownContainer> = {},
): KnownContainer => ({
  status,
  status_reason: null,
  desired,
  gen: 2,
  spec_no: 1,
  edit_asked_at: null,
  exit_code: null,
  started_at: null,
  docker_id: null,
  ...more,
});
const shows = (state: ActualContainer['state'], more: Partial<ActualContainer> = {}): ActualContainer => ({
  id: 1,
  gen: 2,
  dockerId: 'd',
  state,
  exitCode: null,
  oomKilled: false,
  error: null,
  startedAt: null,
  finishedAt: null,
  ...more,
});
const ended = (exitCode: number, more: Partial<ActualContainer> = {}) => shows('exited', { exitCode, ...more });
const made = { docker_id: 'd' };
/** A change to specification 2 waits, where the server shows specification 1. */
const edited = { ...made, spec_no: 2, edit_asked_at: new Date(STARTED), started_at: new Date(STARTED) };
const anew = { specNo: 2 };

const TABLE: [string, KnownContainer, ActualContainer | null, ContainerStatus][] = [
  ['being made, nothing there yet', row('creating', 'running'), null, 'creating'],
  ['made, not started', row('creating', 'running'), shows('created'), 'starting'],
  ['runs at once', row('creating', 'running'), shows('running'), 'running'],
  ['ran and ended well while it was being made', row('creating', 'running'), ended(0), 'exited'],
  ['ran and failed while it was being made', row('creating', 'running'), ended(1), 'failed'],
  ['could not be made', row('creation failed', 'absent'), null, 'creation failed'],
  ['could not be made, a rest is there', row('creation failed', 'absent'), shows('created'), 'creation failed'],
  ['starts', row('starting', 'running', made), shows('running'), 'running'],
  ['start to come, still shows its old end', row('starting', 'running', made), ended(0, { gen: 1 }), 'starting'],
  ['started and ended', row('starting', 'running', made), ended(0), 'exited'],
  ['start to come, was removed by hand', row('starting', 'running', made), null, 'starting'],
  ['start failed, shows its old end', row('failed', 'running', made), ended(0, { gen: 1 }), 'failed'],
  ['goes on running', row('running', 'running', made), shows('running'), 'running'],
  ['is paused by hand', row('running', 'running', made), shows('paused'), 'running'],
  ['crashes and is restarted by Docker', row('running', 'running', made), shows('restarting'), 'running'],
  ['ends with 0', row('running', 'running', made), ended(0), 'exited'],
  ['ends with 3', row('running', 'running', made), ended(3), 'failed'],
  ['runs out of memory', row('running', 'running', made), ended(0, { oomKilled: true }), 'failed'],
  ['is dead', row('running', 'running', made), shows('dead', { exitCode: 137 }), 'failed'],
  ['was removed by hand', row('running', 'running', made), null, 'failed'],
  [
    'restart to come',
    row('rebooting', 'running', { ...made, started_at: new Date(STARTED) }),
    shows('running', { startedAt: STARTED }),
    'rebooting',
  ],
  [
    'between the two halves of a restart',
    row('rebooting', 'running', { ...made, started_at: new Date(STARTED) }),
    ended(143, { startedAt: STARTED }),
    'rebooting',
  ],
  [
    'restarted',
    row('rebooting', 'running', { ...made, started_at: new Date(STARTED) }),
    shows('running', { startedAt: AGAIN }),
    'running',
  ],
  [
    'restarted and failed',
    row('rebooting', 'running', { ...made, started_at: new Date(STARTED) }),
    ended(1, { startedAt: AGAIN }),
    'failed',
  ],
  ['stop to come', row('stopping', 'stopped', made), shows('running', { gen: 1 }), 'stopping'],
  ['stopped', row('stopping', 'stopped', made), ended(143), 'stopped'],
  ['stopped, was removed by hand', row('stopping', 'stopped', made), null, 'stopped'],
  ['stopped stays so', row('stopped', 'stopped', made), ended(143), 'stopped'],
  ['stopped, started by hand', row('stopped', 'stopped', made), shows('running'), 'running'],
  ['ended by itself and stays so', row('exited', 'stopped', made), ended(0), 'exited'],
  ['did not stop in time but runs on', row('failed', 'stopped', made), shows('running'), 'running'],
  ['seen again, runs', row('unresponsive', 'running', made), shows('running'), 'running'],
  ['seen again, ended', row('unresponsive', 'running', made), ended(0), 'exited'],
  ['seen again, still shows its old end', row('unresponsive', 'running', made), ended(0, { gen: 1 }), 'starting'],
  ['seen again, changed, had ended', row('unresponsive', 'running', edited), ended(0, { gen: 1 }), 'exited'],
  ['seen again, never made', row('unresponsive', 'running'), null, 'creating'],
  ['seen again, gone', row('unresponsive', 'running', made), null, 'failed'],
  ['seen again, was stopped', row('unresponsive', 'stopped', made), ended(143), 'stopped'],
  ['seen again, had ended', row('unresponsive', 'stopped', { ...made, exit_code: 0 }), ended(0), 'exited'],
  ['seen again, still to stop', row('unresponsive', 'stopped', made), shows('running'), 'stopping'],
  ['to be deleted, still there', row('terminating', 'absent', made), shows('exited'), 'terminating'],
  ['deleted', row('terminating', 'absent', made), null, 'deleted'],
  ['changed, goes on with the old one', row('running', 'running', edited), shows('running'), 'running'],
  ['changed, the old one ended by itself', row('running', 'running', edited), ended(0), 'exited'],
  ['changed, the old one is being stopped', row('rebooting', 'running', edited), ended(137), 'rebooting'],
  ['changed, the old one is about to be stopped', row('rebooting', 'running', edited), shows('running'), 'rebooting'],
  ['changed, the old one is removed', row('running', 'running', edited), null, 'rebooting'],
  ['changed, the new one is not there yet', row('rebooting', 'running', edited), null, 'rebooting'],
  ['changed, the new one is not started yet', row('rebooting', 'running', edited), shows('created', anew), 'rebooting'],
  ['changed, the new one runs', row('rebooting', 'running', edited), shows('running', anew), 'running'],
  ['changed, the new one ended', row('rebooting', 'running', edited), ended(1, anew), 'failed'],
  [
    'change undone before the old one was stopped',
    row('rebooting', 'running', { ...edited, spec_no: 1 }),
    shows('running', { startedAt: STARTED }),
    'running',
  ],
  ['changed while stopped', row('stopped', 'stopped', edited), shows('created', anew), 'stopped'],
  ['changed while stopped, gone', row('stopped', 'stopped', edited), null, 'stopped'],
  ['changed after its end', row('exited', 'stopped', edited), shows('created', anew), 'exited'],
  [
    'seen again, was changed after its end',
    row('unresponsive', 'stopped', { ...edited, exit_code: 0 }),
    shows('created', anew),
    'exited',
  ],
  ['seen again, being recreated', row('unresponsive', 'running', edited), null, 'starting'],
  ['to be deleted before it was there', row('terminating', 'absent'), null, 'deleted'],
];

describe('the status of a container', () => {
  it.each(TABLE)('%s', (_, standing, actual, expected) => {
    expect(observedStatus(standing, actual).to).toBe(expected);
  });

  it('never needs a transition that the contract forbids', () => {
    const actuals = [null, 'created', 'running', 'paused', 'restarting', 'removing', 'exited', 'dead'] as const;
    let cells = 0;
    const escapes: string[] = [];
    for (const [status, wishes] of Object.entries(WISHES) as [ContainerStatus, KnownContainer['desired'][]][]) {
      for (const desired of wishes) {
        for (const state of actuals) {
          for (const [more, specNo, exitCode] of CELLS) {
            const { to } = observedStatus(row(status, desired, more), state && shows(state, { exitCode, specNo }));
            cells += 1;
            if (to !== status && !CONTAINER_MOVES[status].includes(to)) {
              escapes.push(`${status} × ${desired} × ${state} → ${to}`);
            }
          }
        }
      }
    }
    console.log(`container statuses: n = ${cells} cells`);
    expect(escapes).toEqual([]);
  });
});

const CELLS: [Partial<KnownContainer>, number, number][] = [made, edited].flatMap((more) =>
  [1, 2].flatMap((specNo) =>
    [0, 1].map((exitCode): [Partial<KnownContainer>, number, number] => [more, specNo, exitCode]),
  ),
);

/** What may be wanted in each status: an action sets both together. */
const WISHES: Record<Exclude<ContainerStatus, 'deleted'>, KnownContainer['desired'][]> = {
  creating: ['running'],
  'creation failed': ['absent'],
  starting: ['running'],
  running: ['running', 'stopped'],
  stopping: ['stopped'],
  stopped: ['running', 'stopped'],
  rebooting: ['running'],
  exited: ['running', 'stopped'],
  failed: ['running', 'stopped'],
  unresponsive: ['running', 'stopped'],
  terminating: ['absent'],
};

describe('a container whose server is back', () => {
  const ran = { ...made, started_at: new Date(STARTED) };
  const down = { ...ran, status_reason: SERVER_STOPPED };
  const back = (exitCode: number, more: Partial<ActualContainer> = {}) =>
    ended(exitCode, { startedAt: STARTED, finishedAt: AGAIN, ...more });
  const STOPPED = { to: 'stopped', reason: STOPPED_WITH_SERVER };
  const CASES: [string, KnownContainer, ActualContainer, object][] = [
    ['was killed with it', row('stopped', 'running', down), back(137), STOPPED],
    ['ended by the signal', row('stopped', 'running', down), back(143), STOPPED],
    ['ended well as it went down', row('stopped', 'running', down), back(0), STOPPED],
    ['is marked dead', row('stopped', 'running', down), { ...back(255), state: 'dead' }, STOPPED],
    [
      'is seen once more',
      row('stopped', 'running', { ...down, status_reason: STOPPED_WITH_SERVER }),
      back(137),
      STOPPED,
    ],
    [
      'was rebooted with it',
      row('unresponsive', 'running', { ...ran, status_reason: SERVER_REBOOTING }),
      back(137),
      STOPPED,
    ],
    ['runs again', row('stopped', 'running', down), shows('running', { startedAt: AGAIN }), { to: 'running' }],
    ['had failed before', row('stopped', 'running', { ...down, exit_code: 3 }), back(3), { to: 'failed' }],
    ['had ended well before', row('stopped', 'running', { ...down, exit_code: 0 }), back(0), { to: 'exited' }],
    ['came back and failed then', row('stopped', 'running', down), back(1, { startedAt: AGAIN }), { to: 'failed' }],
    [
      'was out of sight only, and failed',
      row('unresponsive', 'running', { ...ran, status_reason: 'Its server cannot be reached' }),
      back(137),
      { to: 'failed' },
    ],
    ['was stopped by a person before', row('stopped', 'stopped', ran), back(137), { to: 'stopped', reason: null }],
  ];
  const BOOTED = '2026-01-01T12:00:00.000Z';
  const rebooted = (exitCode: number, more: Partial<ActualContainer> = {}) =>
    back(exitCode, { finishedAt: '2026-01-01T12:00:05.000Z', ...more });
  const REBOOTS: [string, KnownContainer, ActualContainer, string | null, object][] = [
    ['was killed', row('unresponsive', 'running', ran), rebooted(137), BOOTED, STOPPED],
    ['ended by the signal', row('unresponsive', 'running', ran), rebooted(143), BOOTED, STOPPED],
    ['was found dead', row('running', 'running', ran), rebooted(255), BOOTED, STOPPED],
    ['ended well', row('unresponsive', 'running', ran), rebooted(0), BOOTED, { to: 'exited' }],
    ['had failed', row('unresponsive', 'running', ran), rebooted(3), BOOTED, { to: 'failed' }],
    ['was out of memory', row('running', 'running', ran), rebooted(137, { oomKilled: true }), BOOTED, { to: 'failed' }],
    [
      'runs again',
      row('unresponsive', 'running', ran),
      shows('running', { startedAt: AGAIN }),
      BOOTED,
      { to: 'running' },
    ],
    ['started since', row('running', 'running', ran), rebooted(137, { startedAt: AGAIN }), STARTED, { to: 'failed' }],
    [
      'had been killed before',
      row('unresponsive', 'running', { ...ran, exit_code: 137 }),
      rebooted(137),
      BOOTED,
      { to: 'failed' },
    ],
    ['is of an earlier daemon', row('unresponsive', 'running', ran), rebooted(137), null, { to: 'failed' }],
  ];
  it.each(REBOOTS)('rebooted by its owner: %s', (_, known, actual, bootedAt, expected) =>
    expect(observedStatus(known, actual, bootedAt)).toMatchObject(expected),
  );
  it.each(CASES)('%s', (_, known, actual, expected) => expect(observedStatus(known, actual)).toMatchObject(expected));
  it('is what the table tells', () => console.log(`n = ${CASES.length + REBOOTS.length}`));
});
