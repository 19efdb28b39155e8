import type { api } from '@stagi/contract/api.ts';
import type { EntityFilterRequest } from '@stagi/contract/page.ts';
import { holdOperator } from '../admin/operator.ts';
import { inTransaction } from '../db/pool.ts';
import type { Db } from '../db/schema.ts';
import { csvOf } from '../http/csv.ts';
import { invalid } from '../http/errors.ts';
import type { HandlersOf } from '../http/mount.ts';
import { isId, pageOf } from '../http/paging.ts';
import { actorsOf, findActors } from './actors.ts';
import { type Exported, recordCheck, recordExport, type Whose } from './byOperators.ts';
import { askForCheck, listChecks, oneCheck } from './checks.ts';
import { AUDIT_COLUMNS } from './csv.ts';
import { areasOf, entriesBefore, type Narrowed, pageOfEntries } from './entries.ts';
import { PLATFORM, verifyChain } from './verify.ts';

/** One answer's worth: well within the five seconds of a statement. */
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
      await holdOperator(trx, ctx.user.id);
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
      await holdOperator(trx, ctx.user.id);
      const whose = await chainOf(trx, workspaceId);
      const verdict = await verifyChain(trx, whose.chain, after ?? null, VERIFIED_AT_ONCE);
      if (verdict.next === null) await recordCheck({ ...ctx, db: trx }, whose, verdict);
      return { isSuccess: true, ...verdict };
    }),
  async checkAll(ctx) {
    const id = await inTransaction(ctx.db, (trx) => askForCheck(ctx, trx, ctx.user.id));
    return { isSuccess: true, entity: await oneCheck(ctx.db, id) };
  },
  async listChecks({ db }, { entityFilterRequest }) {
    const { entities, count, lastIsWhole } = await listChecks(db, entityFilterRequest);
    return { ...pageOf(entities, count, entityFilterRequest), lastIsWhole };
  },
};

type Asked = Omit<Narrowed, 'outcomes'> & { entityFilterRequest: EntityFilterRequest };

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

async function chainOf(db: Db, workspaceId: number | null): Promise<Whose> {
  const workspace = workspaceId === null ? null : await workspaceNamed(db, workspaceId);
  return { chain: workspace?.id ?? PLATFORM, workspace };
}

/** Closed ones too: what was done in them is what is asked after. */
async function workspaceNamed(db: Db, id: number): Promise<{ id: number; name: string }> {
  const found = await db.selectFrom('workspace').select(['id', 'name']).where(isId('id', id)).executeTakeFirst();
  if (!found) throw invalid('This workspace cannot be found', 'workspaceId');
  return found;
}
