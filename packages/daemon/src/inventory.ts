import type { Inventory } from '@stagi/contract/daemon.ts';
import type { DesiredState } from '@stagi/contract/desiredState.ts';
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
