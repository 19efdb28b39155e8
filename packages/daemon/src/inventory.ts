import type { DesiredState, Inventory } from '@stagi/contract/daemon.ts';
import { reachedGen, type SeenContainer } from './plan.ts';

/** What is told to the platform of this server, from what was seen last. */
export function inventoryOf(view: {
  desired: DesiredState | null;
  seen: readonly SeenContainer[];
  images: Inventory['images'];
  dockerError: string | null;
  sshKeys: string[] | null;
}): Inventory {
  const targets = new Map(view.desired?.containers.map((target) => [target.id, target]));
  return {
    // Taken over and stored is applied: how far single containers are, their own generations tell.
    appliedGen: view.desired?.gen ?? 0,
    containers: view.seen.map(({ createdGen: _created, begunGen: _begun, ...container }, index) => ({
      ...container,
      gen: reachedGen(targets.get(container.id), view.seen[index]!),
    })),
    images: view.images,
    dockerError: view.dockerError,
    sshKeys: view.sshKeys,
  };
}
