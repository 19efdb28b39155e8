import type { api } from '@stagi/contract/api.ts';
import { csvOf } from '../http/csv.ts';
import type { HandlersOf } from '../http/handlers.ts';
import { pageOf } from '../http/paging.ts';
import { intervalsBefore, pageOfIntervals, spentByDay } from './intervals.ts';
import { presentInterval, secondsOf, stagi, USAGE_COLUMNS } from './present.ts';

/** One answer's worth. */
const EXPORTED_AT_ONCE = 5_000;

export const usageHandlers: HandlersOf<typeof api.usage> = {
  async list({ db, workspace }, { entityFilterRequest, ...between }) {
    const range = { ...between, queryString: entityFilterRequest.queryString };
    const [{ rows, totals }, days] = await Promise.all([
      pageOfIntervals(db, workspace.id, range, entityFilterRequest),
      spentByDay(db, workspace.id, range),
    ]);
    return {
      ...pageOf(rows.map(presentInterval), totals.count, entityFilterRequest),
      total: {
        seconds: secondsOf(totals.micros),
        quoted: stagi(totals.quoted),
        charged: stagi(totals.charged),
        uncollected: stagi(totals.uncollected),
        refunded: stagi(totals.refunded),
      },
      days: days.map(({ day, charged }) => ({ day, charged: stagi(charged) })),
    };
  },
  async export({ db, workspace }, { before, ...range }) {
    const rows = await intervalsBefore(db, workspace.id, range, before, EXPORTED_AT_ONCE);
    return {
      isSuccess: true,
      csv: csvOf(USAGE_COLUMNS, rows.map(presentInterval), { heading: before === undefined }),
      next: rows.length < EXPORTED_AT_ONCE ? null : Number(rows.at(-1)!.id),
    };
  },
};
