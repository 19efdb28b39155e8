import { lstat } from 'node:fs/promises';
import { isIP } from 'node:net';
import { CapabilitySet } from '@stagi/contract/containerFields.ts';
import type { HostConfig } from '@stagi/contract/hostConfig.ts';
import { usePlainMessages } from '@stagi/contract/plainMessages.ts';
import {
  ANY_ADDRESS,
  type ContainerPolicy,
  checkContainer,
  OWN_VOLUME_ROOT,
  type PolicyTarget,
  RENTED_VOLUME_ROOT,
} from '@stagi/contract/policy.ts';
import { text } from '@stagi/contract/text.ts';
import { z } from 'zod';
import { readFileIfExists, writeFileAtomically } from './atomicFile.ts';
import type { Identity } from './identity.ts';
import { parseJson } from './parseJson.ts';
import type { Paths } from './paths.ts';
import { PolicyError } from './policyError.ts';
import { openHostFolder } from './volumes/hostFolder.ts';

// What is wrong with the file is told to the person whose container it stops.
usePlainMessages();

/**
 * What this server's owner allows, in a file that only root writes. The daemon checks it last, so that a compromised
 * platform can do no more than this.
 */
const LocalPolicy = z.strictObject({
  volumeRoots: z.array(z.string().startsWith('/')),
  maxCpus: z.number().positive().nullable().default(null),
  maxMemoryBytes: z.number().positive().nullable().default(null),
  gpuIds: z.array(z.number().int()).nullable().default(null),
  imagePrefixes: z.array(z.string()).nullable().default(null),
  /** Absent in files of before it was known. */
  capabilities: CapabilitySet.default('hardened'),
  portAddress: z
    .string()
    .refine((address) => isIP(address) !== 0, 'not an address')
    .default(ANY_ADDRESS),
  /** Whether members who manage this server may open a shell of root on it. Absent: on rented servers alone. */
  hostTerminal: z.boolean().optional(),
});
export type LocalPolicy = z.infer<typeof LocalPolicy> & ContainerPolicy & { hostTerminal: boolean };

/** Throws when the file is damaged or writable by others than root: then nothing is allowed. */
export async function loadPolicy(paths: Paths, kind: Identity['kind']): Promise<LocalPolicy> {
  const isRented = kind === 'rented';
  const content = await readFileIfExists(paths.policy);
  if (content === null)
    return {
      ...LocalPolicy.parse({
        volumeRoots: [isRented ? RENTED_VOLUME_ROOT : OWN_VOLUME_ROOT],
        capabilities: 'docker',
      }),
      hostTerminal: isRented,
    };
  const { uid, mode } = await lstat(paths.policy);
  if (uid !== process.getuid?.() || (mode & 0o022) !== 0)
    throw new PolicyError(
      text('{{path}} on the server must belong to root and be writable by nobody else', { path: paths.policy }),
    );
  const read = LocalPolicy.safeParse(parseJson(content));
  if (!read.success) {
    const reason = read.error.issues.map(({ message }) => message).join('; ');
    throw new PolicyError(text('{{path}} on the server is damaged: {{reason}}', { path: paths.policy, reason }));
  }
  return { ...read.data, hostTerminal: read.data.hostTerminal ?? isRented };
}

/**
 * Writes the default at enrolment, so that the owner sees what can be restricted. An existing file is kept, but for what
 * whoever runs the installer allows with it.
 */
export async function writePolicy(
  paths: Paths,
  kind: Identity['kind'],
  { hostTerminal, anyFolder }: { hostTerminal: boolean; anyFolder: boolean },
): Promise<void> {
  const isNew = (await readFileIfExists(paths.policy)) === null;
  if (!isNew && !hostTerminal && !anyFolder) return;
  const policy = await loadPolicy(paths, kind);
  const allowed = { ...policy, ...(hostTerminal && { hostTerminal }), ...(anyFolder && { volumeRoots: ['/'] }) };
  await writeFileAtomically(paths.policy, `${JSON.stringify(allowed, null, 2)}\n`, 0o644);
}

/**
 * Checks a container against the policy, makes its missing host directories and returns what it may do. Throws
 * PolicyError when it is not allowed. `onMade` hears of each directory that was missing. Called again before every start,
 * and its paths may lead elsewhere right after: containers get what `containerFolders.ts` binds.
 */
export async function authorizeContainer(
  target: PolicyTarget,
  policy: LocalPolicy,
  paths: Paths,
  onMade?: (path: string) => void,
): Promise<HostConfig> {
  const { refusals, hostConfig } = checkContainer(target, policy);
  if (!hostConfig) throw new PolicyError(refusals[0].message);
  for (const directory of target.spec.directories) {
    for (const own of [paths.config, paths.state, paths.volumes]) {
      if (overlaps(directory.host, own)) throw new PolicyError(text('This directory of the server cannot be mounted'));
    }
    await (await openHostFolder(directory.host, onMade)).handle.close();
  }
  return hostConfig;
}

function overlaps(path: string, own: string): boolean {
  const inside = (a: string, b: string) => a === b || a.startsWith(b === '/' ? '/' : `${b}/`);
  const clean = `/${path
    .split('/')
    .filter((part) => part !== '' && part !== '.')
    .join('/')}`;
  return inside(clean, own) || inside(own, clean);
}
