import { useListState } from './useListState.ts';
import { RANGE, useRange } from './useRange.ts';

const WHO = 'who';
const AREA = 'area';
const SEPARATOR = ',';

/** What a page of an audit log is narrowed by, in its address: for the bar above the list, and for the call. */
export function useAuditList() {
  const list = useListState({ sort: { field: 'at', direction: 'desc' }, filters: [RANGE, WHO, AREA] });
  const range = useRange(list);
  const chosen = (name: string): string[] => list.filter(name).split(SEPARATOR).filter(Boolean);
  const choose = (name: string) => (values: string[]) => list.setFilter(name, values.join(SEPARATOR));
  const userIds = chosen(WHO).map(Number).filter(Number.isSafeInteger);
  const areas = chosen(AREA);
  return {
    list,
    range,
    narrowed: { ...range.bounds, ...(userIds.length > 0 && { userIds }), ...(areas.length > 0 && { areas }) },
    filters: {
      userIds: chosen(WHO),
      onUserIds: choose(WHO),
      areas,
      onAreas: choose(AREA),
      outcomes: list.statuses,
      onOutcomes: list.setStatuses,
    },
  };
}
