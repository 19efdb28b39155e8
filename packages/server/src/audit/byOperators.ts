import { api } from '@stagi/contract/api.ts';
import { sql } from 'kysely';
import type { Operator } from '../people/lockedByOperator.ts';
import type { EntryFilter } from './entries.ts';
import { recordAct } from './record.ts';
import { recordForWorkspace } from './recordForWorkspace.ts';
import { PLATFORM_CHAIN, type Verdict } from './verifyChain.ts';

/** The audit log that an operator reads: of a workspace, or of the operators themselves. */
export interface AuditedLog {
  chain: number;
  workspace: { id: number; name: string } | null;
}

export type Exported = EntryFilter & { before?: number };

/** Within this time a later part belongs to the same export. */
const EXPORT_LASTS = sql`interval '1 hour'`;

/**
 * An export leaves the platform, so it is recorded, unlike paging: once per export, however many parts it has, in the
 * operators' log and in the exported log.
 */
export async function recordExport(ctx: Operator, whose: AuditedLog, { before, ...narrowed }: Exported): Promise<void> {
  if (before !== undefined && (await isContinuedExport(ctx, whose))) return;
  const { from, to, areas, userIds, outcomes } = narrowed;
  const action = api.audit.exportForOperators.path;
  const object = objectOf(whose);
  const detail = { from, to, areas, userIds, outcomes, before };
  if (whose.workspace) await recordForWorkspace(ctx.db, whose.workspace.id, { action, object });
  await recordAct(ctx.db, { ...ctx, workspace: null }, { action, outcome: 'done', object, detail });
}

/** Recorded with the result by the last part, in the operators' log only: a check shows nothing of the log. */
export function recordCheck(ctx: Operator, whose: AuditedLog, { broken }: Verdict): Promise<void> {
  return recordAct(
    ctx.db,
    { ...ctx, workspace: null },
    {
      action: api.audit.verifyForOperators.path,
      outcome: 'done',
      object: objectOf(whose),
      detail: broken === null ? {} : { broken },
    },
  );
}

const objectOf = ({ chain, workspace }: AuditedLog) => ({
  type: 'admin/client',
  id: workspace ? String(chain) : null,
  label: workspace?.name ?? null,
});

async function isContinuedExport({ db, user }: Operator, { chain, workspace }: AuditedLog): Promise<boolean> {
  const begun = await db
    .selectFrom('audit')
    .select('seq')
    .where('chain', '=', PLATFORM_CHAIN)
    .where('actor_id', '=', user.id)
    .where('area', '=', 'admin')
    .where('at', '>', sql<Date>`clock_timestamp() - ${EXPORT_LASTS}`)
    .where('action', '=', api.audit.exportForOperators.path)
    .where('object_id', 'is not distinct from', workspace ? String(chain) : null)
    .limit(1)
    .executeTakeFirst();
  return begun !== undefined;
}
