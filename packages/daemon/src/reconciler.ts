import { STOP_GRACE } from '@stagi/contract/containerFields.ts';
import { crashPoint } from '@stagi/contract/crashPoints.ts';
import type { DaemonMessage, Inventory, RememberedContainer } from '@stagi/contract/daemon.ts';
import type { DesiredContainer, DesiredState } from '@stagi/contract/desiredState.ts';
import type { HostConfig } from '@stagi/contract/hostConfig.ts';
import { text } from '@stagi/contract/text.ts';
import { type Applier, createApplier } from './apply.ts';
import type { ContainerRecords } from './containerRecords.ts';
import { graceOf, ownerOf } from './containerSpec.ts';
import type { DesiredStore } from './desiredState.ts';
import type { Engine } from './docker.ts';
import { userOf } from './dockerUser.ts';
import type { Identity } from './identity.ts';
import type { Images } from './images.ts';
import { inventoryOf, rememberedOf } from './inventory.ts';
import { errorText, log } from './log.ts';
import type { LogShipper } from './logShipper.ts';
import { startLoop } from './loop.ts';
import { bootedAt, bootId } from './machine.ts';
import type { Paths } from './paths.ts';
import type { SeenContainer } from './plan.ts';
import { authorizeContainer, loadPolicy } from './policy.ts';
import type { PullAuths } from './pullAuths.ts';
import { installSshKeys, readSshKeys } from './sshKeys.ts';
import { taskFiles } from './taskFiles.ts';
import { watchTasks } from './taskWatch.ts';
import { sleep } from './timing.ts';
import type { UsedImages } from './usedImages.ts';
import { containerFolders } from './volumes/containerFolders.ts';
import { giveNewFolder } from './volumes/hostFolder.ts';

const LIST_EVERY_MS = 30_000;
const LIST_GAP_MS = 200;
const EVENTS_RETRY_MS = 2000;

export interface ReconcilerDeps {
  engine: Engine;
  identity: Identity;
  paths: Paths;
  desired: DesiredStore;
  records: ContainerRecords;
  logs: LogShipper;
  images: Pick<Images, 'isOurs'>;
  pullAuth: PullAuths['ask'];
  usedImages: UsedImages;
  report(message: Extract<DaemonMessage, { type: 'progress' | 'failed' }>): void;
  /** Called after every pass over Docker's containers. */
  onInventory(inventory: Inventory): void;
}

/** Brings Docker's containers and the authorized SSH keys to the stored desired state. */
export interface Reconciler {
  wake(): void;
  /** Resolves after a pass that began after this call. */
  nextPass(): Promise<void>;
  inventory(): Inventory;
  remembered(): RememberedContainer[];
  /** Failures that still apply, for a platform that may have missed their report. */
  openFailures(): ReturnType<Applier['openFailures']>;
  /** A container as Docker shows it now; null when there is none. */
  find(containerId: number): Promise<Pick<SeenContainer, 'dockerId' | 'startedAt'> | null>;
  restart(containerId: number): Promise<void>;
  removeAll(): Promise<void>;
  close(): Promise<void>;
}

export function startReconciler(deps: ReconcilerDeps): Reconciler {
  const { engine, identity, paths, desired, records, logs } = deps;
  const folders = containerFolders(paths.volumes, ownerOf(identity));
  const closing = new AbortController();
  let seen: SeenContainer[] = [];
  let images: Inventory['images'] = [];
  let imagesDue = true;
  let isSwept = false;
  let dockerError: string | null = 'Docker has not answered yet';
  let booted: string | undefined;
  /** Made for containers that do not exist yet. */
  const newVolumes = new Set<string>();
  let sshKeys: string[] | null = null;

  const loop = startLoop(pass, { everyMs: LIST_EVERY_MS, gapMs: LIST_GAP_MS });
  const watch = watchTasks(records, bootId, loop.wake);
  const applier = createApplier({
    engine,
    records,
    tasks: taskFiles({ engine, records, origin: identity.origin, report: deps.report, wake: loop.wake }),
    authorizeContainer: authorizeByPolicy,
    bindVolumes,
    giveNewVolumes,
    releaseVolumes: folders.release,
    pullAuth: deps.pullAuth,
    report: deps.report,
    wake: loop.wake,
    onCreated: logs.openLogStream,
    onChanged: logs.recheck,
    drainLog: logs.drained,
  });

  async function pass(): Promise<void> {
    const wanted = desired.current();
    const seenAt = performance.now();
    try {
      const listed = await Promise.all(
        (await engine.list()).map(async (one) => ({
          ...one,
          begunGen: records.begunGen(one),
          // Only of those that may have to start; the disk of one that runs may hang.
          ...(one.state === 'exited' && { areVolumesBound: await folders.areBound(one.id) }),
        })),
      );
      seen = await watch.observe(listed, wanted);
      if (imagesDue) images = await engine.images();
      imagesDue = false;
      dockerError = null;
    } catch (error) {
      dockerError = text('Docker is not responding: {{error}}', { error: errorText(error) });
      log(dockerError);
    }
    if (dockerError === null) {
      logs.observe(seen);
      if (wanted)
        await advance(wanted, seenAt).catch((error: unknown) => log(`nothing can be begun: ${errorText(error)}`));
    }
    booted ??= await bootedAt();
    sshKeys = await syncSshKeys(identity, paths, wanted?.sshKeys ?? null);
    deps.onInventory(inventory());
  }

  async function advance(wanted: DesiredState, seenAt: number): Promise<void> {
    const targets = new Map(wanted.containers.map((target) => [target.id, target]));
    for (const { id, state, begunGen } of seen) {
      const target = targets.get(id);
      if (target?.state === 'running' && state === 'exited' && begunGen >= target.gen)
        await records.ended(id, target.gen);
    }
    const made = seen.flatMap(({ id }) => targets.get(id)?.spec.image ?? []);
    await deps.usedImages.add(made).catch((error: unknown) => log(`used images are not recorded: ${errorText(error)}`));
    const known = new Set([...targets.keys(), ...seen.map(({ id }) => id)]);
    await records.forgetExcept(known);
    if (!isSwept) await folders.releaseExcept(known);
    isSwept = true;
    applier.advance(wanted, seen, seenAt);
  }

  function inventory(): Inventory {
    const marked = images.map((image) => ({ ...image, ours: deps.images.isOurs(image.reference) }));
    return inventoryOf({ desired: desired.current(), seen, images: marked, dockerError, sshKeys, bootedAt: booted });
  }

  /** The policy is read each time, so that a change needs no restart. */
  async function authorizeByPolicy(target: Parameters<typeof authorizeContainer>[0]) {
    return authorizeContainer(target, await loadPolicy(paths, identity.kind), paths, (path) => newVolumes.add(path));
  }

  async function giveNewVolumes(target: DesiredContainer, dockerId: string): Promise<void> {
    const made = target.spec.directories.map(({ host }) => host).filter((host) => newVolumes.has(host));
    if (made.length === 0) return;
    const owner = await userOf(engine, dockerId);
    for (const host of made) {
      if (owner) await giveNewFolder(host, owner);
      newVolumes.delete(host);
    }
  }

  async function bindVolumes(target: DesiredContainer): Promise<HostConfig> {
    return folders.bind(target, await authorizeByPolicy(target));
  }

  async function find(containerId: number): Promise<Pick<SeenContainer, 'dockerId' | 'startedAt'> | null> {
    return (await engine.list()).find(({ id }) => id === containerId) ?? null;
  }

  /** Events only wake the loop, whose pass lists all containers; the pass every 30 s makes up for lost events. */
  async function watchEvents(): Promise<void> {
    while (!closing.signal.aborted) {
      try {
        await engine.watch((kind) => {
          if (kind === 'image') imagesDue = true;
          loop.wakeThrottled();
        }, closing.signal);
      } catch (error) {
        if (!closing.signal.aborted) log(`Docker's events broke off: ${errorText(error)}`);
      }
      imagesDue = true;
      await sleep(EVENTS_RETRY_MS, closing.signal);
      loop.wakeThrottled();
    }
  }

  loop.wake();
  const events = watchEvents();
  return {
    wake: loop.wake,
    nextPass: loop.nextPass,
    inventory,
    remembered: () => rememberedOf({ desired: desired.current(), seen, records }),
    openFailures() {
      const wanted = desired.current();
      return wanted ? applier.openFailures(wanted) : [];
    },
    find,
    restart(containerId) {
      const targetOf = () => desired.current()?.containers.find(({ id }) => id === containerId);
      const gen = targetOf()?.gen ?? Number.MAX_SAFE_INTEGER;
      return applier.runExclusively(containerId, gen, async (signal) => {
        const found = await find(containerId);
        if (!found) throw new Error('This container is not on the server');
        const target = targetOf();
        if (target?.task) throw new Error(text('This container belongs to a task'));
        if (target) await bindVolumes(target);
        crashPoint('daemon.restart.begun');
        const graceSeconds = target ? graceOf(target) : STOP_GRACE.former;
        await engine.restart(found.dockerId, target?.spec.image ?? '', { graceSeconds, signal });
        crashPoint('daemon.restart.done');
        logs.recheck(found.dockerId);
      });
    },
    async removeAll() {
      await applier.close();
      for (const { id, dockerId } of await engine.list()) {
        await engine.remove(dockerId);
        await folders.release(id);
      }
    },
    async close() {
      closing.abort();
      watch.stop();
      loop.stop();
      await applier.close();
      await events;
    },
  };
}

async function syncSshKeys(identity: Identity, paths: Paths, keys: string[] | null): Promise<string[] | null> {
  if (identity.kind !== 'rented' || keys === null) return null;
  try {
    await installSshKeys(paths.authorizedKeys, keys);
    return await readSshKeys(paths.authorizedKeys);
  } catch (error) {
    log(`authorized_keys cannot be kept: ${errorText(error)}`);
    return [];
  }
}
