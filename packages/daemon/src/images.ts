import type { CommandOutcome, DesiredState } from '@stagi/contract/desiredState.ts';
import { canonicalImage } from '@stagi/contract/imageReference.ts';
import { text } from '@stagi/contract/text.ts';
import { freedBytes, type ImageDetail, type ImageEngine } from './dockerImages.ts';
import type { Identity } from './identity.ts';
import { errorText, log } from './log.ts';
import type { UsedImages } from './usedImages.ts';

interface Deps {
  engine: ImageEngine;
  kind: Identity['kind'];
  used: UsedImages;
  desired(): DesiredState | null;
}

/** Removal of images, by commands of the platform. On an own server only images that our containers were made of. */
export interface Images {
  isOurs(reference: string): boolean;
  remove(reference: string): Promise<CommandOutcome>;
  /** Removes all that nothing needs, or with `dryRun` tells which these are. */
  prune(dryRun: boolean): Promise<CommandOutcome>;
}

export function imagesOf({ engine, kind, used, desired }: Deps): Images {
  const isOurs = (reference: string): boolean => kind === 'rented' || used.has(reference);

  /** Images that containers are to be made of are needed, also while they are not there. */
  function wanted(): Set<string> {
    const containers = desired()?.containers ?? [];
    return new Set(containers.filter(({ state }) => state !== 'absent').map(({ spec }) => canonicalImage(spec.image)));
  }

  return {
    isOurs,

    async remove(reference) {
      const all = await engine.imageDetails();
      const name = canonicalImage(reference);
      const image = all.find(({ references }) => references.includes(name));
      if (!image) return { references: [], bytes: 0 };
      if (!isOurs(name)) throw new Error(text('Only images that containers of Stagi were made of can be removed here'));
      if (wanted().has(name)) throw new Error(text('A container needs this image'));
      const isLast = image.references.length === 1;
      if (isLast && image.containers.length > 0)
        throw new Error(text('It is in use by {{containers}}', { containers: image.containers.join(', ') }));
      await engine.removeImage(name);
      return { references: [name], bytes: isLast ? freedBytes(all, new Set([image.id])) : 0 };
    },

    async prune(dryRun) {
      const all = await engine.imageDetails();
      const doomed = prunable(all, { needed: wanted(), isOurs, withUnnamed: kind === 'rented' });
      const gone = dryRun ? doomed : await removeAll(engine, doomed);
      return {
        references: gone.flatMap(({ id, references }) => (references.length > 0 ? references : [id])).slice(0, 1000),
        bytes: freedBytes(all, new Set(gone.map(({ id }) => id))),
      };
    },
  };
}

/** Images without a container, all of whose names may be taken away. Pure. */
export function prunable(
  all: readonly ImageDetail[],
  rules: { needed: ReadonlySet<string>; isOurs(reference: string): boolean; withUnnamed: boolean },
): ImageDetail[] {
  return all.filter(
    ({ containers, references }) =>
      containers.length === 0 &&
      (references.length > 0 || rules.withUnnamed) &&
      references.every((reference) => rules.isOurs(reference) && !rules.needed.has(canonicalImage(reference))),
  );
}

/** Returns those that are gone: one that came into use meanwhile stays. */
async function removeAll(engine: ImageEngine, doomed: readonly ImageDetail[]): Promise<ImageDetail[]> {
  const gone: ImageDetail[] = [];
  for (const image of doomed) {
    try {
      for (const reference of image.references.length > 0 ? image.references : [image.id])
        await engine.removeImage(reference);
      gone.push(image);
    } catch (error) {
      log(`image ${image.references[0] ?? image.id} stays: ${errorText(error)}`);
    }
  }
  return gone;
}
