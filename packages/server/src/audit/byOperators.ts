import { api } from '@stagi/contract/api.ts';
import { sql } from 'kysely';
import type { Operator } from '../admin/operator.ts';
import { tellWorkspace } from '../admin/tellWorkspace.ts';
import type { Narrowed } from './entries.ts';
import { recordAct } from './record.ts';
import { PLATFORM, type Verdict } from './verify.ts';

/** A log that an operator reads: of a workspace, or of the operators themselves. */
export interface Whose {
  chain: number;
  workspace: { id: number; name: string } | null;
}

export type Exported = Narrowed & { before?: number };

/** Within this a later part belongs to an export that has begun before. */
const EXPORT_LASTS = sql`interval '1 hour'`;

/**
 * Turning pages is looking; a copy leaves the platform, and nobody sees any more who reads it. That is written down once
 * an export, however many parts it has, among what operators did and in the log itself.
 */
export async function recordExport(ctx: Operator, whose: Whose, { before, ...narrowed }: Exported): Promise<void> {
  if (before !== undefined && (await hasBegun(ctx, whose))) return;
  const { from, to, areas, userIds, outcomes } = narrowed;
  const action = api.audit.exportForOperators.path;
  const object = objectOf(whose);
  const detail = { from, to, areas, userIds, outcomes, before };
  if (whose.workspace) await tellWorkspace(ctx.db, whose.workspace.id, { action, object });
  await recordAct(ctx.db, { ...ctx, workspace: null }, { action, outcome: 'done', object, detail });
}

/** With what was found, by the part that ends it: it shows nothing of the log, whose members read nothing of it. */
export function recordCheck(ctx: Operator, whose: Whose, { broken }: Verdict): Promise<void> {
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

const objectOf = ({ chain, workspace }: Whose) => ({
  type: 'admin/client',
  id: workspace ? String(chain) : null,
  label: workspace?.name ?? null,
});

async function hasBegun({ db, user }: Operator, { chain, workspace }: Whose): Promise<boolean> {
  const begun = await db
    .selectFrom('audit')
    .select('seq')
    .where('chain', '=', PLATFORM)
    .where('actor_id', '=', user.id)
    .where('area', '=', 'admin')
    .where('at', '>', sql<Date>`clock_timestamp() - ${EXPORT_LASTS}`)
    .where('action', '=', api.audit.exportForOperators.path)
    .where('object_id', 'is not distinct from', workspace ? String(chain) : null)
    .limit(1)
    .executeTakeFirst();
  return begun !== undefined;
}
