import { CLI_VERSION_MIN } from '@stagi/contract/apiTokens.ts';
import type { Authenticated, Membership } from '../sessions/authenticate.ts';

/** The user of a command line's credential, and whether its version is supported. */
export function checkCli(
  { user, workspace, credential }: Pick<Authenticated, 'user' | 'credential'> & { workspace: Membership },
  clientVersion: string,
) {
  return {
    isSupported: isAtLeast(clientVersion, CLI_VERSION_MIN),
    minimumVersion: CLI_VERSION_MIN,
    user: { userId: user.id, name: user.name, email: user.email },
    client: { clientId: workspace.id, clientName: workspace.name, roleName: workspace.role },
    permissions: [...workspace.permissions],
    expiresAt: credential.kind === 'token' ? (credential.expiresAt?.toISOString() ?? null) : null,
  };
}

/** Compares numbers only: a pre-release of a supported version is supported too. */
function isAtLeast(version: string, least: string): boolean {
  const [numbers, wanted] = [numbersOf(version), numbersOf(least)];
  const differing = wanted.findIndex((number, at) => numbers[at] !== number);
  return differing === -1 || (numbers[differing] ?? 0) > (wanted[differing] ?? 0);
}

const numbersOf = (version: string): number[] => version.split(/[-+]/, 1)[0]!.split('.').map(Number);
