import { crashPoint } from '@stagi/contract/crashPoints.ts';
import type { DaemonMessage, DesiredState, Inventory } from '@stagi/contract/daemon.ts';
import { type Applier, applier } from './apply.ts';
import { pause } from './deadline.ts';
import type { DesiredStore } from './desired.ts';
import type { Engine } from './docker.ts';
import type { Identity } from './identity.ts';
import { inventoryOf } from './inventory.ts';
import { reasonOf, say } from './log.ts';
import type { LogShipper } from './logs.ts';
import { startLoop } from './loop.ts';
import type { Marks } from './marks.ts';
import type { Paths } from './paths.ts';
import type { SeenContainer } from './plan.ts';
import { admit, loadPolicy } from './policy.ts';
import { installSshKeys, readSshKeys } from './sshKeys.ts';

const LIST_EVERY_MS = 30_000;
const LIST_GAP_MS = 200;
const EVENTS_RETRY_MS = 2000;

export interface ReconcilerDeps {
  engine: Engine;
  identity: Identity;
  paths: Paths;
  desired: DesiredStore;
  marks: Marks;
  logs: LogShipper;
  report(message: Extract<DaemonMessage, { type: 'progress' | 'failed' }>): void;
  /** Called after every look at Docker. */
  onInventory(inventory: Inventory): void;
}

/** Keeps Docker, and the keys that may sign in, as the stored desired state says. */
export interface Reconciler {
  wake(): void;
  /** Resolves after a look at Docker that began after this call. */
  settled(): Promise<void>;
  inventory(): Inventory;
  /** Failures that still stand, for a platform that may not have heard them. */
  standing(): ReturnType<Applier['standing']>;
  /** A container as Docker shows it now. */
  find(containerId: number): Promise<Pick<SeenContainer, 'dockerId' | 'startedAt'> | null>;
  restart(containerId: number): Promise<void>;
  removeAll(): Promise<void>;
  close(): Promise<void>;
}

export function startReconciler(deps: ReconcilerDeps): Reconciler {
  const { engine, identity, paths, desired, marks, logs } = deps;
  const closing = new AbortController();
  let seen: SeenContainer[] = [];
  let images: Inventory['images'] = [];
  let imagesDue = true;
  let dockerError: string | null = 'Docker has not answered yet';
  let sshKeys: string[] | null = null;

  const loop = startLoop(pass, { everyMs: LIST_EVERY_MS, gapMs: LIST_GAP_MS });
  const steps = applier({
    engine,
    marks,
    admit: admitHere,
    report: deps.report,
    wake: loop.wake,
    onCreated: logs.expect,
    onChanged: logs.nudge,
    drained: logs.drained,
  });

  async function pass(): Promise<void> {
    const wanted = desired.current();
    const seenAt = performance.now();
    try {
      seen = (await engine.list()).map((one) => ({ ...one, begunGen: marks.begunGen(one) }));
      if (imagesDue) images = await engine.images();
      imagesDue = false;
      dockerError = null;
    } catch (error) {
      dockerError = `Docker does not answer: ${reasonOf(error)}`;
      say(dockerError);
    }
    if (dockerError === null) {
      logs.observe(seen);
      if (wanted)
        await advance(wanted, seenAt).catch((error: unknown) => say(`nothing can be begun: ${reasonOf(error)}`));
    }
    sshKeys = await keepSshKeys(identity, paths, wanted?.sshKeys ?? null);
    deps.onInventory(inventory());
  }

  async function advance(wanted: DesiredState, seenAt: number): Promise<void> {
    const targets = new Map(wanted.containers.map((target) => [target.id, target]));
    for (const { id, state, begunGen } of seen) {
      const target = targets.get(id);
      if (target?.state === 'running' && state === 'exited' && begunGen >= target.gen)
        await marks.ended(id, target.gen);
    }
    await marks.keepOnly(new Set([...targets.keys(), ...seen.map(({ id }) => id)]));
    steps.advance(wanted, seen, seenAt);
  }

  function inventory(): Inventory {
    return inventoryOf({ desired: desired.current(), seen, images, dockerError, sshKeys });
  }

  /** The policy is read each time: its owner changes it without a restart. */
  async function admitHere(target: Parameters<typeof admit>[0]) {
    return admit(target, await loadPolicy(paths, identity.kind), paths);
  }

  async function find(containerId: number): Promise<Pick<SeenContainer, 'dockerId' | 'startedAt'> | null> {
    return (await engine.list()).find(({ id }) => id === containerId) ?? null;
  }

  /** Events only wake the loop: what they say is looked up, and the list every 30 s makes up for lost ones. */
  async function watchEvents(): Promise<void> {
    while (!closing.signal.aborted) {
      try {
        await engine.watch((kind) => {
          if (kind === 'image') imagesDue = true;
          loop.hint();
        }, closing.signal);
      } catch (error) {
        if (!closing.signal.aborted) say(`Docker's events broke off: ${reasonOf(error)}`);
      }
      imagesDue = true;
      await pause(EVENTS_RETRY_MS, closing.signal);
      loop.hint();
    }
  }

  loop.wake();
  const events = watchEvents();
  return {
    wake: loop.wake,
    settled: loop.settled,
    inventory,
    standing() {
      const wanted = desired.current();
      return wanted ? steps.standing(wanted) : [];
    },
    find,
    restart: (containerId) =>
      steps.alone(containerId, async () => {
        const found = await find(containerId);
        if (!found) throw new Error('This container is not on the server');
        const target = desired.current()?.containers.find(({ id }) => id === containerId);
        if (target) await admitHere(target);
        crashPoint('daemon.restart.begun');
        await engine.restart(found.dockerId, target?.spec.image ?? '');
        crashPoint('daemon.restart.done');
        logs.nudge(found.dockerId);
      }),
    async removeAll() {
      await steps.close();
      for (const { dockerId } of await engine.list()) await engine.remove(dockerId);
    },
    async close() {
      closing.abort();
      loop.stop();
      await steps.close();
      await events;
    },
  };
}

async function keepSshKeys(identity: Identity, paths: Paths, keys: string[] | null): Promise<string[] | null> {
  if (identity.kind !== 'rented' || keys === null) return null;
  try {
    await installSshKeys(paths.authorizedKeys, keys);
    return await readSshKeys(paths.authorizedKeys);
  } catch (error) {
    say(`authorized_keys cannot be kept: ${reasonOf(error)}`);
    return [];
  }
}
