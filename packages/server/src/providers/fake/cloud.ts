import { createHash } from 'node:crypto';
import type {
  FakeErrorReply,
  FakeEvent,
  FakeFault,
  FakeFaultRule,
  FakeMachine,
  FakeOffer,
  FakeOperation,
  FakeRecord,
  FakeReport,
  FakeStart,
  FakeStray,
} from './protocol.ts';

/**
 * The whole state of the fake cloud: plain data, written to disk after every change. A machine is a list of phases, and
 * its current state follows from the cloud's clock: nothing runs between two requests.
 */
export interface CloudState {
  clock: { realMs: number; cloudMs: number; scale: number };
  provisionMs: number;
  nextNumber: number;
  capacity: Record<string, number>;
  machines: StoredMachine[];
  faults: StoredFault[];
  events: FakeEvent[];
}

interface StoredMachine {
  ref: string;
  token: string | null;
  name: string;
  offerId: string;
  tags: Record<string, string>;
  userData: string;
  ip: string;
  createdMs: number;
  /** Listed from this time on. */
  visibleMs: number;
  /** Until `untilMs` it is listed as it was before the last change. */
  shown?: { untilMs: number; as: FakeMachine[] };
  /** In order of time; the last one that has begun is the current one. */
  phases: { fromMs: number; state: FakeMachine['state'] | 'gone'; detail: string | null }[];
}

interface StoredFault extends FakeFaultRule {
  /** For `stale`: what the cloud showed when the fault was set. */
  seen: FakeMachine[];
}

export class CloudError extends Error {
  readonly status: number;
  readonly reply: FakeErrorReply;
  constructor(status: number, code: FakeErrorReply['error']['code'], message: string) {
    super(message);
    this.status = status;
    this.reply = { error: { code, message } };
  }
}

const maxEvents = 10_000;
const stopMs = 5_000;
const rebootMs = 15_000;
const terminateMs = 8_000;

const offers: Omit<FakeOffer, 'available'>[] = [
  offer('sim-cpu-4', 'eu-sim-1', 4, 16, null, 100, '80000', '4000'),
  offer('sim-l4-1', 'eu-sim-1', 8, 32, { name: 'Simulated L4', count: 1, memoryGb: 24 }, 200, '700000', '8000'),
  offer('sim-a100-1', 'us-sim-1', 16, 120, { name: 'Simulated A100', count: 1, memoryGb: 80 }, 500, '1900000', '20000'),
  offer(
    'sim-h100-8',
    'us-sim-1',
    192,
    1800,
    { name: 'Simulated H100', count: 8, memoryGb: 80 },
    4000,
    '24000000',
    '160000',
  ),
];

const defaultCapacity: Record<string, number> = {
  'sim-cpu-4': 1000,
  'sim-l4-1': 100,
  'sim-a100-1': 20,
  'sim-h100-8': 2,
};

export function newCloud(options: { provisionMs: number; realMs: number }): CloudState {
  return {
    clock: { realMs: options.realMs, cloudMs: options.realMs, scale: 1 },
    provisionMs: options.provisionMs,
    nextNumber: 1,
    capacity: { ...defaultCapacity },
    machines: [],
    faults: [],
    events: [],
  };
}

export function now(cloud: CloudState, realMs = Date.now()): number {
  return cloud.clock.cloudMs + (realMs - cloud.clock.realMs) * cloud.clock.scale;
}

export function setClock(cloud: CloudState, change: { scale?: number; advanceMs?: number }): void {
  const realMs = Date.now();
  const cloudMs = now(cloud, realMs) + (change.advanceMs ?? 0);
  cloud.clock = { realMs, cloudMs, scale: change.scale ?? cloud.clock.scale };
}

export function addFault(cloud: CloudState, rule: FakeFaultRule): void {
  cloud.faults.push({
    ...rule,
    seen: rule.fault.kind === 'stale' ? cloud.machines.flatMap((m) => visible(cloud, m)) : [],
  });
}

/** The fault for this call, if any; counts it down. */
export function takeFault(cloud: CloudState, operation: FakeOperation): StoredFault | null {
  const rule = cloud.faults.find(({ on }) => on === operation);
  if (!rule) return null;
  if (rule.times !== null) {
    rule.times -= 1;
    if (rule.times <= 0) cloud.faults = cloud.faults.filter((other) => other !== rule);
  }
  return rule;
}

export function listOffers(cloud: CloudState): FakeOffer[] {
  return offers.map((item) => ({ ...item, available: remainingCapacity(cloud, item.id) }));
}

export function start(cloud: CloudState, request: FakeStart, fault: FakeFault | null): StoredMachine {
  const sameToken = cloud.machines.find(({ token }) => token === request.token);
  if (sameToken && (sameToken.name !== request.name || sameToken.offerId !== request.offerId)) {
    throw new CloudError(409, 'conflict', 'The token was used for another machine');
  }
  if (sameToken) return sameToken;
  if (cloud.machines.some((m) => m.name === request.name && stateOf(cloud, m).state !== 'gone')) {
    throw new CloudError(409, 'conflict', `${request.name} is the name of a machine made by another order`);
  }
  if (!offers.some(({ id }) => id === request.offerId))
    throw new CloudError(422, 'invalid', `No offer ${request.offerId}`);
  if (fault?.kind === 'noCapacity' || remainingCapacity(cloud, request.offerId) <= 0) {
    throw new CloudError(409, 'no-capacity', 'Sold out');
  }
  return add(cloud, request, fault);
}

/** A machine that was not requested by the platform. */
export function addStray(cloud: CloudState, stray: FakeStray): StoredMachine {
  return add(cloud, { ...stray, token: null, userData: '' }, null);
}

export function list(cloud: CloudState, environment: string, rule: StoredFault | null): FakeMachine[] {
  const all = rule?.fault.kind === 'stale' ? rule.seen : cloud.machines.flatMap((machine) => visible(cloud, machine));
  const omit = rule?.fault.kind === 'partial' ? rule.fault.omit : [];
  return all.filter(({ tags, name }) => tags.env === environment && omit !== 'all' && !omit.includes(name));
}

export function stop(cloud: CloudState, ref: string): void {
  const machine = findMachine(cloud, ref);
  const { state } = stateOf(cloud, machine);
  if (state === 'stopping' || state === 'stopped') return;
  if (state !== 'running') throw new CloudError(409, 'conflict', `A machine that is ${state} cannot be stopped`);
  schedulePhases(cloud, machine, ['stopping', 0], ['stopped', stopMs]);
}

export function resume(cloud: CloudState, ref: string): void {
  const machine = findMachine(cloud, ref);
  const { state } = stateOf(cloud, machine);
  if (state === 'running' || state === 'creating') return;
  if (state !== 'stopped') throw new CloudError(409, 'conflict', `A machine that is ${state} cannot be resumed`);
  schedulePhases(cloud, machine, ['creating', 0], ['running', rebootMs]);
}

/** Changes no state, as a reboot is not visible at the cloud. */
export function reboot(cloud: CloudState, ref: string): void {
  const { state } = stateOf(cloud, findMachine(cloud, ref));
  if (state !== 'running') throw new CloudError(409, 'conflict', `A machine that is ${state} cannot be rebooted`);
}

export function terminate(cloud: CloudState, ref: string, fault: FakeFault | null): void {
  const machine = findMachine(cloud, ref);
  if (fault?.kind === 'falseDeleted') {
    machine.visibleMs = now(cloud) + fault.hiddenMs;
    return;
  }
  if (stateOf(cloud, machine).state === 'terminating') return;
  schedulePhases(cloud, machine, ['terminating', 0], ['gone', terminateMs]);
}

/** Lists a machine in its present state for a while, although it changes (visibility lag). */
export function hideChange(cloud: CloudState, ref: string, lagMs: number): void {
  const machine = findMachine(cloud, ref);
  machine.shown = { untilMs: now(cloud) + lagMs, as: visible(cloud, machine) };
}

/** Removes a machine at once, as if it was deleted elsewhere. */
export function vanish(cloud: CloudState, name: string): void {
  schedulePhases(cloud, byName(cloud, name), ['gone', 0]);
}

/** Fails a machine: it stays listed as `error`. */
export function fail(cloud: CloudState, name: string, detail: string): void {
  const machine = byName(cloud, name);
  schedulePhases(cloud, machine, ['error', 0]);
  machine.phases.at(-1)!.detail = detail;
}

export function byName(cloud: CloudState, name: string): StoredMachine {
  const machine = cloud.machines.find((m) => m.name === name && stateOf(cloud, m).state !== 'gone');
  if (!machine) throw new CloudError(404, 'not-found', `No machine ${name}`);
  return machine;
}

export function findMachine(cloud: CloudState, ref: string): StoredMachine {
  const machine = cloud.machines.find((m) => m.ref === ref);
  if (!machine || stateOf(cloud, machine).state === 'gone') throw new CloudError(404, 'not-found', `No machine ${ref}`);
  return machine;
}

export function record(cloud: CloudState, event: Omit<FakeEvent, 'at'>): void {
  cloud.events.push({ at: iso(now(cloud)), ...event });
  if (cloud.events.length > maxEvents) cloud.events.shift();
}

export function report(cloud: CloudState): FakeReport {
  return {
    now: iso(now(cloud)),
    machines: cloud.machines.map((machine) => recordOf(cloud, machine)),
    faults: cloud.faults.map(({ on, fault, times }) => ({ on, fault, times })),
    events: cloud.events,
  };
}

function add(
  cloud: CloudState,
  request: Omit<FakeStart, 'token'> & { token: string | null },
  fault: FakeFault | null,
): StoredMachine {
  const number = cloud.nextNumber++;
  const createdMs = now(cloud);
  const machine: StoredMachine = {
    ref: `sim-${createHash('sha256').update(`${number}`).digest('hex').slice(0, 12)}`,
    token: request.token,
    name: request.name,
    offerId: request.offerId,
    tags: request.tags,
    userData: request.userData,
    // RFC 5737: addresses for documentation, which are not reachable.
    ip: `203.0.113.${1 + (number % 254)}`,
    createdMs,
    visibleMs: fault?.kind === 'visibilityLag' ? createdMs + fault.lagMs : createdMs,
    phases: [{ fromMs: createdMs, state: 'creating', detail: null }],
  };
  const ready = createdMs + cloud.provisionMs;
  if (fault?.kind === 'provisioningFails') machine.phases.push({ fromMs: ready, state: 'error', detail: fault.detail });
  else if (fault?.kind !== 'neverReady') machine.phases.push({ fromMs: ready, state: 'running', detail: null });
  cloud.machines.push(machine);
  return machine;
}

/** Replaces the phases that have not begun. */
function schedulePhases(
  cloud: CloudState,
  machine: StoredMachine,
  ...steps: [StoredMachine['phases'][number]['state'], number][]
): void {
  const from = now(cloud);
  machine.phases = machine.phases.filter(({ fromMs }) => fromMs <= from);
  for (const [state, afterMs] of steps) machine.phases.push({ fromMs: from + afterMs, state, detail: null });
}

function stateOf(cloud: CloudState, machine: StoredMachine) {
  const at = now(cloud);
  return machine.phases.findLast(({ fromMs }) => fromMs <= at) ?? machine.phases[0]!;
}

function visible(cloud: CloudState, machine: StoredMachine): FakeMachine[] {
  const { state, detail } = stateOf(cloud, machine);
  if (machine.shown && now(cloud) < machine.shown.untilMs) return machine.shown.as;
  if (state === 'gone' || now(cloud) < machine.visibleMs) return [];
  const { ref, name, tags, createdMs } = machine;
  const ip = state === 'running' ? machine.ip : null;
  return [{ ref, name, tags, state, ip, detail, createdAt: iso(createdMs) }];
}

function recordOf(cloud: CloudState, machine: StoredMachine): FakeRecord {
  const { ref, token, name, offerId, tags, userData, ip } = machine;
  const at = now(cloud);
  const begun = machine.phases.filter(({ fromMs }) => fromMs <= at);
  const first = (state: string) => begun.find((phase) => phase.state === state)?.fromMs;
  return {
    ...{ ref, token, name, offerId, tags, userData, ip },
    createdAt: iso(machine.createdMs),
    ranAt: isoOrNull(first('running')),
    goneAt: isoOrNull(first('gone')),
    state: stateOf(cloud, machine).state,
  };
}

function remainingCapacity(cloud: CloudState, offerId: string): number {
  const taken = cloud.machines.filter((m) => m.offerId === offerId && stateOf(cloud, m).state !== 'gone').length;
  return Math.max(0, (cloud.capacity[offerId] ?? 0) - taken);
}

function iso(ms: number): string {
  return new Date(ms).toISOString();
}

function isoOrNull(ms: number | undefined): string | null {
  return ms === undefined ? null : iso(ms);
}

function offer(
  id: string,
  region: string,
  cores: number,
  ramGb: number,
  gpu: FakeOffer['gpu'],
  diskGb: number,
  pricePerHour: string,
  stoppedPricePerHour: string,
): Omit<FakeOffer, 'available'> {
  const cpu = { name: 'Simulated CPU', cores };
  const disk = { type: 'simulated SSD', sizeGb: diskGb };
  return { id, region, cpu, ramGb, gpu, disk, pricePerHour, stoppedPricePerHour, spot: false };
}
