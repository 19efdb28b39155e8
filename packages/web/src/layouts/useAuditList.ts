import { useListState } from './useListState.ts';
import { RANGE, useRange } from './useRange.ts';

const WHO = 'who';
const AREA = 'area';

/** What a page of an audit log is narrowed by, in its address: for the bar above the list, and for the call. */
export function useAuditList() {
  const list = useListState({ sort: { field: 'at', direction: 'desc' }, filters: [RANGE, WHO, AREA] });
  const range = useRange(list);
  const choose = (name: string) => (values: string[]) => list.setValues(name, values);
  const userIds = list.values(WHO).map(Number).filter(Number.isSafeInteger);
  const areas = list.values(AREA);
  return {
    list,
    range,
    who: { value: userIds[0] ?? null, onChange: (id: number | null) => choose(WHO)(id === null ? [] : [String(id)]) },
    narrowed: { ...range.bounds, ...(userIds.length > 0 && { userIds }), ...(areas.length > 0 && { areas }) },
    filters: {
      userIds: list.values(WHO),
      onUserIds: choose(WHO),
      areas,
      onAreas: choose(AREA),
      outcomes: list.statuses,
      onOutcomes: list.setStatuses,
    },
  };
}
