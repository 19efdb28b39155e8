import { type Permission, ROLE_PERMISSIONS, type Role } from '@stagi/contract/permissions.ts';
import type { Db } from '../db/schema.ts';
import { revokeMemberKeys } from '../instances/sshAccess.ts';
import { revokeInvitesBeyondRole } from '../invites/revokeBeyondRole.ts';
import { revokeS3Key } from '../objects/keys.ts';

/** Who may use servers and storages: SSH keys on servers, access keys and links rest on it. */
const USES_SERVERS: Permission = 'INSTANCE_RENTED_MANAGEMENT';

/**
 * Ends for good what a member made that rested on a right which they lose: SSH keys on servers, access keys and share
 * links, join links. So nothing of it comes back with the right. `role`: the one that they have from now on; null: they
 * have left. `keptKeys`: those access keys and share links that go on are kept already (`keepS3Keys`).
 *
 * Called after the membership has changed, as that waits for SSH keys that they are adding. Everything else asks at each
 * use what is true then: sessions, tokens, streams, ports, git, and access keys through `KEY_WORKS`. So a token that was
 * archived or has expired, and a disabled account or workspace, need no call here.
 */
export async function endRights(
  trx: Db,
  {
    role,
    keptKeys = false,
    ...who
  }: { workspaceId: number; userId: number; actorId: number; role: Role | null; keptKeys?: boolean },
): Promise<void> {
  if (role) await revokeInvitesBeyondRole(trx, { ...who, role });
  if (role && ROLE_PERMISSIONS[role].includes(USES_SERVERS)) return;
  await revokeMemberKeys(trx, who);
  // Share links end with their keys.
  if (!keptKeys) await revokeS3Key(trx, { workspaceId: who.workspaceId, madeBy: who.userId });
}

/** Ends the access keys and share links that an app made in this session: its user shuts it out. */
export async function endRightsOfApp(trx: Db, sessionId: string): Promise<void> {
  await revokeS3Key(trx, { sessionId });
}
