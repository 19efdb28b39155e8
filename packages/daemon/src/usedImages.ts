import { canonicalImage } from '@stagi/contract/imageReference.ts';
import { z } from 'zod';
import { readFileIfExists, writeFileAtomically } from './atomicFile.ts';
import { errorText, log } from './log.ts';
import { parseJson } from './parseJson.ts';

const File = z.array(z.string());

/** The images that containers of ours were made of, since this server joined: on an own server others are not ours to remove. */
export interface UsedImages {
  has(reference: string): boolean;
  /** Stores those that are new. */
  add(references: readonly string[]): Promise<void>;
}

export async function openUsedImages(path: string): Promise<UsedImages> {
  const used = await load(path);
  return {
    has: (reference) => used.has(canonicalImage(reference)),
    async add(references) {
      const fresh = references.map(canonicalImage).filter((reference) => !used.has(reference));
      if (fresh.length === 0) return;
      await writeFileAtomically(path, JSON.stringify([...new Set([...used, ...fresh])]), 0o600);
      for (const reference of fresh) used.add(reference);
    },
  };
}

async function load(path: string): Promise<Set<string>> {
  const content = await readFileIfExists(path);
  if (content === null) return new Set();
  const read = File.safeParse(parseJson(content));
  if (read.success) return new Set(read.data);
  log(`the record of used images is damaged and begins anew: ${errorText(read.error)}`);
  return new Set();
}
