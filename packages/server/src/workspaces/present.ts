import type { Member } from '@stagi/contract/clients.ts';
import type { Language } from '@stagi/contract/languages.ts';
import type { Role } from '@stagi/contract/permissions.ts';
import { versionOf } from '../http/editVersion.ts';
import { coversRole } from '../memberships/roles.ts';
import { picturePath } from '../pictures/profilePicture.ts';

export interface MemberRow {
  user_id: number;
  name: string;
  email: string;
  image: string | null;
  language: Language | null;
  role: Role;
  created_at: Date;
  is_last_owner: boolean;
  keys_and_links: number;
}

/** The version of what an edit changes. */
export const memberVersion = ({ role }: Pick<MemberRow, 'role'>): string => versionOf({ role });

/** A member as shown to another one with the role `viewer.role`. */
export function presentMember(row: MemberRow, viewer: { userId: number; role: Role }): Member {
  return {
    userId: row.user_id,
    name: row.name,
    email: row.email,
    image: row.image && picturePath(row.image),
    roleName: row.role,
    createdAt: row.created_at.toISOString(),
    isMe: row.user_id === viewer.userId,
    hold: coversRole(viewer.role, row.role) ? (row.is_last_owner ? 'last-owner' : null) : 'more-power',
    keysAndLinks: row.keys_and_links,
    version: memberVersion(row),
  };
}
