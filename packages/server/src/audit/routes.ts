import type { api } from '@stagi/contract/api.ts';
import type { HandlersOf } from '../http/mount.ts';
import { pageOf } from '../http/paging.ts';
import { csvOf } from './csv.ts';
import { actorsOf, areasOf, entriesBefore, pageOfEntries } from './entries.ts';
import { verifyChain } from './verify.ts';

/** One answer's worth: well within the five seconds of a statement. */
const EXPORTED_AT_ONCE = 5_000;
const VERIFIED_AT_ONCE = 10_000;

export const auditHandlers: HandlersOf<typeof api.audit> = {
  async list({ db, workspace }, { entityFilterRequest, ...narrowed }) {
    const outcomes = entityFilterRequest.statuses;
    const [{ entities, count }, actors, areas] = await Promise.all([
      pageOfEntries(db, workspace.id, { ...narrowed, outcomes }, entityFilterRequest),
      actorsOf(db, workspace.id),
      areasOf(db, workspace.id),
    ]);
    return { ...pageOf(entities, count, entityFilterRequest), actors, areas };
  },
  async export({ db, workspace }, { before, ...narrowed }) {
    const entries = await entriesBefore(db, workspace.id, narrowed, before, EXPORTED_AT_ONCE);
    const isWhole = entries.length < EXPORTED_AT_ONCE;
    return {
      isSuccess: true,
      csv: csvOf(entries, { heading: before === undefined }),
      next: isWhole ? null : (entries.at(-1)?.id ?? null),
    };
  },
  async verify({ db, workspace }, { after }) {
    return { isSuccess: true, ...(await verifyChain(db, workspace.id, after ?? null, VERIFIED_AT_ONCE)) };
  },
};
