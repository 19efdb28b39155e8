import { lstat, mkdir } from 'node:fs/promises';
import { isIP } from 'node:net';
import type { DesiredContainer } from '@stagi/contract/daemon.ts';
import type { HostConfig } from '@stagi/contract/hostConfig.ts';
import { ANY_ADDRESS, admission, type ContainerPolicy, RENTED_VOLUME_ROOT } from '@stagi/contract/policy.ts';
import { z } from 'zod';
import { isCode, readIfThere, writeDurably } from './durable.ts';
import type { Identity } from './identity.ts';
import type { Paths } from './paths.ts';

/**
 * What this server's owner allows, in a file that only root writes. The daemon asks here last, so a platform that was
 * taken over can do no more than this.
 */
const LocalPolicy = z.strictObject({
  volumeRoots: z.array(z.string().startsWith('/')),
  maxCpus: z.number().positive().nullable().default(null),
  maxMemoryBytes: z.number().positive().nullable().default(null),
  gpuIds: z.array(z.number().int()).nullable().default(null),
  imagePrefixes: z.array(z.string()).nullable().default(null),
  portAddress: z
    .string()
    .refine((address) => isIP(address) !== 0, 'not an address')
    .default(ANY_ADDRESS),
});
export type LocalPolicy = z.infer<typeof LocalPolicy> & ContainerPolicy;

/** A container that the policy forbids; the message is for the person who made it. */
export class PolicyError extends Error {}

/** Throws when the file is damaged or others than root may write it: then nothing is allowed. */
export async function loadPolicy(paths: Paths, kind: Identity['kind']): Promise<LocalPolicy> {
  const text = await readIfThere(paths.policy);
  if (text === null) return LocalPolicy.parse({ volumeRoots: kind === 'rented' ? [RENTED_VOLUME_ROOT] : ['/'] });
  const { uid, mode } = await lstat(paths.policy);
  if (uid !== process.getuid?.() || (mode & 0o022) !== 0)
    throw new PolicyError(`${paths.policy} must belong to root and be writable by nobody else`);
  const read = LocalPolicy.safeParse(parseJson(text));
  if (!read.success) throw new PolicyError(`${paths.policy} is damaged: ${z.prettifyError(read.error)}`);
  return read.data;
}

/** Writes the default out at enrolment so that the owner finds what may be narrowed; an existing file stays. */
export async function writeDefaultPolicy(paths: Paths, kind: Identity['kind']): Promise<void> {
  if ((await readIfThere(paths.policy)) !== null) return;
  await writeDurably(paths.policy, `${JSON.stringify(await loadPolicy(paths, kind), null, 2)}\n`, 0o644);
}

/**
 * Answers what the container may do, having made the host directories that are missing; throws PolicyError when it may
 * not be made here. Called again before every start, since a container may have put a link into its volume meanwhile.
 */
export async function admit(
  target: Pick<DesiredContainer, 'slug' | 'spec'>,
  policy: LocalPolicy,
  paths: Paths,
): Promise<HostConfig> {
  const { refusals, hostConfig } = admission(target, policy);
  if (!hostConfig) throw new PolicyError(refusals[0].message);
  for (const directory of target.spec.directories) {
    for (const own of [paths.config, paths.state]) {
      if (overlaps(directory.host, own)) throw new PolicyError('This directory of the server cannot be mounted');
    }
    await preparePlain(directory.host);
  }
  return hostConfig;
}

/** Every component must be a real directory: a link could lead out of what the policy allows. */
async function preparePlain(path: string): Promise<void> {
  let at = '';
  for (const part of path.split('/').filter((name) => name !== '' && name !== '.')) {
    at = `${at}/${part}`;
    const kind = await kindOf(at);
    if (kind === 'link') throw new PolicyError(`${at} on the server is a symbolic link and cannot be mounted`);
    if (kind === 'other') throw new PolicyError(`${at} on the server is not a directory`);
    if (kind === 'absent') await mkdir(at, { mode: 0o755 });
  }
}

async function kindOf(path: string): Promise<'directory' | 'link' | 'other' | 'absent'> {
  try {
    const stat = await lstat(path);
    if (stat.isSymbolicLink()) return 'link';
    return stat.isDirectory() ? 'directory' : 'other';
  } catch (error) {
    if (isCode(error, 'ENOENT')) return 'absent';
    throw error;
  }
}

function overlaps(path: string, own: string): boolean {
  const inside = (a: string, b: string) => a === b || a.startsWith(b === '/' ? '/' : `${b}/`);
  const clean = `/${path
    .split('/')
    .filter((part) => part !== '' && part !== '.')
    .join('/')}`;
  return inside(clean, own) || inside(own, clean);
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
