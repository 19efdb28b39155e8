import type { api } from '@stagi/contract/api.ts';
import type { EntityFilterRequest } from '@stagi/contract/page.ts';
import { text } from '@stagi/contract/text.ts';
import { inTransaction } from '../db/pool.ts';
import type { Db } from '../db/schema.ts';
import { csvOf } from '../http/csv.ts';
import { invalid } from '../http/errors.ts';
import type { HandlersOf } from '../http/handlers.ts';
import { isId, pageOf } from '../http/paging.ts';
import { lockOperator } from '../people/lockedByOperator.ts';
import { actorsOf, findActors } from './actors.ts';
import { type AuditedLog, type Exported, recordCheck, recordExport } from './byOperators.ts';
import { listChecks, requestCheck, viewCheck } from './checks.ts';
import { AUDIT_COLUMNS } from './csv.ts';
import { areasOf, type EntryFilter, entriesBefore, pageOfEntries } from './entries.ts';
import { PLATFORM_CHAIN, verifyChain } from './verifyChain.ts';

/** Entries per request: well within the statement timeout of five seconds. */
const EXPORTED_AT_ONCE = 5_000;
const VERIFIED_AT_ONCE = 10_000;

export const auditHandlers: HandlersOf<typeof api.audit> = {
  list: ({ db, workspace }, input) => pageOfChain(db, workspace.id, input),
  async listForOperators({ db }, { workspaceId, ...input }) {
    const { chain, workspace } = await chainOf(db, workspaceId);
    return { ...(await pageOfChain(db, chain, input)), workspace };
  },
  listActors: ({ db, workspace }, { entityFilterRequest }) => pageOfActors(db, workspace.id, entityFilterRequest),
  async listActorsForOperators({ db }, { workspaceId, entityFilterRequest }) {
    const { chain } = await chainOf(db, workspaceId);
    return pageOfActors(db, chain, entityFilterRequest);
  },
  export: ({ db, workspace }, input) => partOfChain(db, workspace.id, input),
  exportForOperators: (ctx, { workspaceId, ...input }) =>
    inTransaction(ctx.db, async (trx) => {
      await lockOperator(trx, ctx.user.id);
      const whose = await chainOf(trx, workspaceId);
      const part = await partOfChain(trx, whose.chain, input);
      await recordExport({ ...ctx, db: trx }, whose, input);
      return part;
    }),
  async verify({ db, workspace }, { after }) {
    return { isSuccess: true, ...(await verifyChain(db, workspace.id, after ?? null, VERIFIED_AT_ONCE)) };
  },
  verifyForOperators: (ctx, { workspaceId, after }) =>
    inTransaction(ctx.db, async (trx) => {
      await lockOperator(trx, ctx.user.id);
      const whose = await chainOf(trx, workspaceId);
      const verdict = await verifyChain(trx, whose.chain, after ?? null, VERIFIED_AT_ONCE);
      if (verdict.next === null) await recordCheck({ ...ctx, db: trx }, whose, verdict);
      return { isSuccess: true, ...verdict };
    }),
  async checkAll(ctx) {
    const id = await inTransaction(ctx.db, (trx) => requestCheck(ctx, trx, ctx.user.id));
    return { isSuccess: true, entity: await viewCheck(ctx.db, id) };
  },
  async listChecks({ db }, { entityFilterRequest }) {
    const { entities, count, lastIsWhole } = await listChecks(db, entityFilterRequest);
    return { ...pageOf(entities, count, entityFilterRequest), lastIsWhole };
  },
};

type Asked = Omit<EntryFilter, 'outcomes'> & { entityFilterRequest: EntityFilterRequest };

async function pageOfChain(db: Db, chain: number, { entityFilterRequest, ...narrowed }: Asked) {
  const outcomes = entityFilterRequest.statuses;
  const [{ entities, count, isMore }, actors, areas] = await Promise.all([
    pageOfEntries(db, chain, { ...narrowed, outcomes }, entityFilterRequest),
    actorsOf(db, chain, narrowed.userIds),
    areasOf(db, chain),
  ]);
  return { ...pageOf(entities, count, entityFilterRequest, isMore), ...actors, areas };
}

async function pageOfActors(db: Db, chain: number, request: EntityFilterRequest) {
  const { entities, count, isMore } = await findActors(db, chain, request);
  return pageOf(entities, count, request, isMore);
}

async function partOfChain(db: Db, chain: number, { before, ...narrowed }: Exported) {
  const entries = await entriesBefore(db, chain, narrowed, before, EXPORTED_AT_ONCE);
  return {
    isSuccess: true as const,
    csv: csvOf(AUDIT_COLUMNS, entries, { heading: before === undefined }),
    next: entries.length < EXPORTED_AT_ONCE ? null : (entries.at(-1)?.id ?? null),
  };
}

async function chainOf(db: Db, workspaceId: number | null): Promise<AuditedLog> {
  const workspace = workspaceId === null ? null : await workspaceNamed(db, workspaceId);
  return { chain: workspace?.id ?? PLATFORM_CHAIN, workspace };
}

/** Disabled workspaces too: operators ask what was done in them. */
async function workspaceNamed(db: Db, id: number): Promise<{ id: number; name: string }> {
  const found = await db.selectFrom('workspace').select(['id', 'name']).where(isId('id', id)).executeTakeFirst();
  if (!found) throw invalid(text('This workspace cannot be found'), 'workspaceId');
  return found;
}
