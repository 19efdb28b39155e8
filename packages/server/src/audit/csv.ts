import type { AuditEntry } from '@stagi/contract/audit.ts';
import type { CsvColumns } from '../http/csv.ts';

/** The columns of an exported entry. */
export const AUDIT_COLUMNS: CsvColumns<AuditEntry> = {
  entry: ({ id }) => id,
  at: ({ at }) => at,
  user_id: ({ actor }) => actor?.userId,
  name: ({ actor }) => actor?.name,
  email: ({ actor }) => actor?.email,
  by: ({ by }) => by,
  address: ({ ip }) => ip,
  browser: ({ userAgent }) => userAgent,
  action: ({ action }) => action,
  object_type: ({ object }) => object?.type,
  object_id: ({ object }) => object?.id,
  object: ({ object }) => object?.label,
  outcome: ({ outcome }) => outcome,
  detail: ({ detail }) => JSON.stringify(detail),
  before_sha256: ({ before }) => before,
  after_sha256: ({ after }) => after,
  entry_sha256: ({ hash }) => hash,
};
