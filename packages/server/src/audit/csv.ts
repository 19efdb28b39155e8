import type { AuditEntry } from '@stagi/contract/audit.ts';

const COLUMNS: Record<string, (entry: AuditEntry) => string | number | null | undefined> = {
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

/** RFC 4180. */
export function csvOf(entries: readonly AuditEntry[], { heading }: { heading: boolean }): string {
  const lines = entries.map((entry) => Object.values(COLUMNS).map((column) => field(column(entry))));
  if (heading) lines.unshift(Object.keys(COLUMNS));
  return lines.map((line) => `${line.join(',')}\r\n`).join('');
}

/** Spreadsheets take text that begins so for a formula: a quote before it keeps it text. */
const FORMULA = /^[=+\-@\t\r]/;

function field(value: string | number | null | undefined): string {
  const text = String(value ?? '');
  const harmless = typeof value === 'string' && FORMULA.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(harmless) ? `"${harmless.replaceAll('"', '""')}"` : harmless;
}
