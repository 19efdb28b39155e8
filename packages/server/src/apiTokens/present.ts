import type { ApiToken } from '@stagi/contract/apiTokens.ts';
import { tokenPrefix } from '../secrets/apiTokenFormat.ts';
import type { ApiTokenRow } from './list.ts';

export function presentToken(row: ApiTokenRow): ApiToken {
  return {
    id: row.id,
    description: row.description,
    prefix: tokenPrefix(row.id),
    clientId: row.workspace_id,
    clientName: row.workspace_name,
    permissions: row.permissions,
    createdAt: row.created_at.toISOString(),
    expiresAt: row.expires_at?.toISOString() ?? null,
    lastUsedAt: row.last_used_at?.toISOString() ?? null,
    lastUsedIp: row.last_used_ip,
    ended: endOf(row),
  };
}

/** What ended the token first: archiving an expired one changes nothing. */
function endOf({ archived_at, archived_by, expires_at, is_expired }: ApiTokenRow): ApiToken['ended'] {
  if (expires_at && is_expired && (!archived_at || expires_at < archived_at))
    return { at: expires_at.toISOString(), by: 'expired' };
  return archived_at && archived_by && { at: archived_at.toISOString(), by: archived_by };
}
