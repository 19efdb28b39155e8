import type { Inventory, RememberedContainer } from '@stagi/contract/daemon.ts';
import type { DesiredState } from '@stagi/contract/desiredState.ts';
import type { ContainerRecords } from './containerRecords.ts';
import { specNoOf } from './containerSpec.ts';
import { reachedGen, type SeenContainer } from './plan.ts';

/** The inventory that is reported to the platform, from the last look at Docker. */
export function inventoryOf(view: {
  desired: DesiredState | null;
  seen: readonly SeenContainer[];
  images: Inventory['images'];
  dockerError: string | null;
  sshKeys: string[] | null;
  bootedAt?: string | undefined;
}): Inventory {
  const targets = new Map(view.desired?.containers.map((target) => [target.id, target]));
  return {
    // A stored desired state counts as applied; the progress of each container shows in its own generation.
    appliedGen: view.desired?.gen ?? 0,
    containers: view.seen.map(
      ({ createdGen: _created, begunGen: _begun, areVolumesBound: _bound, ...container }, index) => ({
        ...container,
        gen: reachedGen(targets.get(container.id), view.seen[index]!),
      }),
    ),
    images: view.images,
    dockerError: view.dockerError,
    sshKeys: view.sshKeys,
    ...(view.bootedAt && { bootedAt: view.bootedAt }),
  };
}

/** Generations and specifications from the desired state, Docker's labels and our records. */
export function rememberedOf(view: {
  desired: DesiredState | null;
  seen: readonly SeenContainer[];
  records: Pick<ContainerRecords, 'generations'>;
}): RememberedContainer[] {
  const sources: RememberedContainer[] = [
    ...(view.desired?.containers ?? []).map((target) => ({
      id: target.id,
      gen: target.gen,
      begunGen: 0,
      specNo: specNoOf(target),
    })),
    ...view.seen.map((one) => ({
      id: one.id,
      gen: Math.max(one.createdGen, one.begunGen),
      begunGen: one.begunGen,
      specNo: specNoOf(one),
    })),
    ...view.records.generations().map((record) => ({ ...record, specNo: 1 })),
  ];
  return [...Map.groupBy(sources, ({ id }) => id)].map(([id, parts]) => ({
    id,
    gen: Math.max(...parts.map(({ gen }) => gen)),
    begunGen: Math.max(...parts.map(({ begunGen }) => begunGen)),
    specNo: Math.max(...parts.map(({ specNo }) => specNo)),
  }));
}
