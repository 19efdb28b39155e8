import { opendir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { MAX_PUSH_BYTES } from '@stagi/contract/projectRules.ts';
import type { PushedRef } from '@stagi/contract/projects.ts';
import { runGit } from '../git/run.ts';
import type { GitProject } from '../projects/gitAccess.ts';
import type { Proposal, RefUpdate } from './proposal.ts';

export type Decision =
  | { accepted: true; bytes: number; refs: PushedRef[]; refused: ReadonlySet<string>; messages: string[] }
  | { accepted: false; messages: string[] };

/** Only branches, tags and notes: other refs have a meaning to git or to the platform. */
const PUSHABLE = /^refs\/(heads|tags|notes)\//;
/** As a branch it would be confused with the default branch. */
const CONFUSING = /^refs\/(heads|tags)\/HEAD$/;
const MAX_REFS = 5_000;
/** Together with those that cannot be pushed: git asks a hook for each. */
const MAX_NAMED_REFS = 20_000;
const MAX_MESSAGES = 10;
const CHECK_MS = 60_000;

/**
 * Judges what a push proposes. A ref that may not change leaves the others alone, as with a mirror that
 * also sends `refs/pull/*`. `roomBytes`: what the plan leaves; null: unlimited.
 */
export async function decidePush(
  project: Pick<GitProject, 'dir' | 'defaultBranch' | 'allowForcedPush'>,
  roomBytes: number | null,
  proposal: Proposal,
): Promise<Decision> {
  const allowed = proposal.updates.filter(({ ref }) => isPushable(ref));
  const tooMany = tooManyRefs(proposal.updates.length, allowed.length);
  if (tooMany !== null) return { accepted: false, messages: [tooMany] };
  const reasons = new Map<string, string>();
  for (const { ref } of proposal.updates)
    if (!isPushable(ref))
      reasons.set(
        ref,
        `${ref} cannot be pushed: only branches (refs/heads/), tags (refs/tags/) and notes (refs/notes/) can.`,
      );
  if (allowed.length === 0) return { accepted: false, messages: listed(reasons) };

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
  for (const update of allowed) {
    const ref = { ...nameOf(update), isForced: await isForced(project.dir, proposal, update) };
    const reason = whyRefused(project, ref);
    if (reason === null) refs.push(ref);
    else reasons.set(ref.name, reason);
  }
  const messages = listed(reasons);
  if (refs.length === 0) return { accepted: false, messages };
  return { accepted: true, bytes, refs, refused: new Set(reasons.keys()), messages };
}

const isPushable = (ref: string): boolean => PUSHABLE.test(ref) && !CONFUSING.test(ref);

function tooManyRefs(named: number, allowed: number): string | null {
  if (allowed > MAX_REFS) return `One push may change at most ${MAX_REFS} branches and tags: this one has ${allowed}.`;
  if (named > MAX_NAMED_REFS)
    return `One push may name at most ${MAX_NAMED_REFS} refs: this one has ${named}. Push branches and tags alone.`;
  return null;
}

/** The default branch is protected unless the settings say otherwise. */
function whyRefused(
  { defaultBranch, allowForcedPush }: Pick<GitProject, 'defaultBranch' | 'allowForcedPush'>,
  { name, before, after, isForced }: PushedRef,
): string | null {
  if (allowForcedPush || name !== `refs/heads/${defaultBranch}`) return null;
  const settings = 'The settings of the project can allow forced pushes.';
  if (before !== null && after === null) return `${defaultBranch} cannot be deleted.\n${settings}`;
  if (!isForced) return null;
  return `${defaultBranch} cannot be rewritten: this push would remove commits from it. Pull first, or push to another branch.\n${settings}`;
}

function listed(reasons: ReadonlyMap<string, string>): string[] {
  const all = [...reasons.values()];
  const more = all.length - MAX_MESSAGES;
  // Anything apart from a rule for all names is added last, and must not be cut.
  return more > 0 ? [...all.slice(0, MAX_MESSAGES - 1), `${more} more refs cannot be pushed.`, all.at(-1)!] : all;
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
