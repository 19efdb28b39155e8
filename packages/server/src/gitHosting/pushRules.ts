import { opendir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { MAX_PUSH_BYTES } from '@stagi/contract/projectRules.ts';
import type { PushedRef } from '@stagi/contract/projects.ts';
import { runGit } from '../git/run.ts';
import type { GitProject } from '../projects/gitAccess.ts';
import type { Proposal, RefUpdate } from './proposal.ts';

export type Decision = { accepted: true; bytes: number; refs: PushedRef[] } | { accepted: false; messages: string[] };

/** Only branches, tags and notes: other refs have a meaning to git or to the platform. */
const PUSHABLE = /^refs\/(heads|tags|notes)\//;
/** As a branch it would be confused with the default branch. */
const CONFUSING = /^refs\/(heads|tags)\/HEAD$/;
const MAX_REFS = 5_000;
const CHECK_MS = 60_000;

/** Whether a push may change what it proposes. `roomBytes`: what the plan leaves; null: unlimited. */
export async function decidePush(
  { dir, defaultBranch, allowForcedPush }: Pick<GitProject, 'dir' | 'defaultBranch' | 'allowForcedPush'>,
  roomBytes: number | null,
  proposal: Proposal,
): Promise<Decision> {
  const { updates } = proposal;
  const reasons: string[] = [];
  if (updates.length > MAX_REFS)
    reasons.push(`One push may change at most ${MAX_REFS} branches and tags: this one has ${updates.length}.`);
  for (const { ref } of updates)
    if (!PUSHABLE.test(ref) || CONFUSING.test(ref))
      reasons.push(`${ref} cannot be pushed: only branches (refs/heads/) and tags (refs/tags/) can.`);
  if (reasons.length > 0) return { accepted: false, messages: reasons.slice(0, 10) };

  const bytes = proposal.quarantine ? await bytesOf(proposal.quarantine) : 0;
  if (bytes > MAX_PUSH_BYTES)
    return { accepted: false, messages: [`One push may bring at most ${mib(MAX_PUSH_BYTES)}: push in several parts.`] };
  if (roomBytes !== null && bytes > roomBytes)
    return {
      accepted: false,
      messages: [
        `Your plan has no room for this push: it brings ${mib(bytes)}, and ${mib(roomBytes)} are left.`,
        'Delete something, or choose a larger plan.',
      ],
    };

  const refs: PushedRef[] = [];
  for (const update of updates) refs.push({ ...nameOf(update), isForced: await isForced(dir, proposal, update) });
  if (!allowForcedPush) {
    const main = refs.find(({ name }) => name === `refs/heads/${defaultBranch}`);
    if (main && main.before !== null && main.after === null) reasons.push(`${defaultBranch} cannot be deleted.`);
    else if (main?.isForced)
      reasons.push(
        `${defaultBranch} cannot be rewritten: this push would remove commits from it. Pull first, or push to another branch.`,
      );
    if (reasons.length > 0)
      return { accepted: false, messages: [...reasons, 'The settings of the project can allow forced pushes.'] };
  }
  return { accepted: true, bytes, refs };
}

const nameOf = ({ ref, before, after }: RefUpdate) => ({ name: ref, before, after });

/** Whether commits are taken out of a branch. A tag that is moved counts as well. */
async function isForced(dir: string, { quarantine }: Proposal, { ref, before, after }: RefUpdate): Promise<boolean> {
  if (before === null || after === null) return false;
  if (!ref.startsWith('refs/heads/')) return true;
  const { code } = await runGit(dir, ['merge-base', '--is-ancestor', before, after], {
    timeoutMs: CHECK_MS,
    exitCodes: [0, 1],
    ...(quarantine !== null && {
      env: { GIT_OBJECT_DIRECTORY: quarantine, GIT_ALTERNATE_OBJECT_DIRECTORIES: join(dir, 'objects') },
    }),
  });
  return code === 1;
}

/** The bytes below a folder. */
async function bytesOf(folder: string): Promise<number> {
  let bytes = 0;
  for await (const entry of await opendir(folder, { recursive: true }))
    if (entry.isFile()) bytes += (await stat(join(entry.parentPath, entry.name))).size;
  return bytes;
}

const mib = (bytes: number): string =>
  bytes < 1024 * 1024 ? `${Math.ceil(bytes / 1024)} KiB` : `${Math.ceil(bytes / (1024 * 1024))} MiB`;
