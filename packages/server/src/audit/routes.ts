import type { api } from '@stagi/contract/api.ts';
import type { EntityFilterRequest } from '@stagi/contract/page.ts';
import type { Db } from '../db/schema.ts';
import { csvOf } from '../http/csv.ts';
import { invalid } from '../http/errors.ts';
import type { HandlersOf } from '../http/mount.ts';
import { isId, pageOf } from '../http/paging.ts';
import { AUDIT_COLUMNS } from './csv.ts';
import { actorsOf, areasOf, entriesBefore, type Narrowed, pageOfEntries } from './entries.ts';
import { verifyChain } from './verify.ts';

/** One answer's worth: well within the five seconds of a statement. */
const EXPORTED_AT_ONCE = 5_000;
const VERIFIED_AT_ONCE = 10_000;

/** The chain of what operators do. */
const PLATFORM = 0;

export const auditHandlers: HandlersOf<typeof api.audit> = {
  list: ({ db, workspace }, input) => pageOfChain(db, workspace.id, input),
  async listForOperators({ db }, { workspaceId, ...input }) {
    const workspace = workspaceId === null ? null : await workspaceNamed(db, workspaceId);
    return { ...(await pageOfChain(db, workspace?.id ?? PLATFORM, input)), workspace };
  },
  async export({ db, workspace }, { before, ...narrowed }) {
    const entries = await entriesBefore(db, workspace.id, narrowed, before, EXPORTED_AT_ONCE);
    const isWhole = entries.length < EXPORTED_AT_ONCE;
    return {
      isSuccess: true,
      csv: csvOf(AUDIT_COLUMNS, entries, { heading: before === undefined }),
      next: isWhole ? null : (entries.at(-1)?.id ?? null),
    };
  },
  async verify({ db, workspace }, { after }) {
    return { isSuccess: true, ...(await verifyChain(db, workspace.id, after ?? null, VERIFIED_AT_ONCE)) };
  },
};

type Asked = Omit<Narrowed, 'outcomes'> & { entityFilterRequest: EntityFilterRequest };

async function pageOfChain(db: Db, chain: number, { entityFilterRequest, ...narrowed }: Asked) {
  const outcomes = entityFilterRequest.statuses;
  const [{ entities, count }, actors, areas] = await Promise.all([
    pageOfEntries(db, chain, { ...narrowed, outcomes }, entityFilterRequest),
    actorsOf(db, chain),
    areasOf(db, chain),
  ]);
  return { ...pageOf(entities, count, entityFilterRequest), actors, areas };
}

/** Closed ones too: what was done in them is what is asked after. */
async function workspaceNamed(db: Db, id: number): Promise<{ id: number; name: string }> {
  const found = await db.selectFrom('workspace').select(['id', 'name']).where(isId('id', id)).executeTakeFirst();
  if (!found) throw invalid('This workspace cannot be found', 'workspaceId');
  return found;
}
