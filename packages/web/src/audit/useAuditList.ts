import { useListState } from '../lists/useListState.ts';
import { RANGE_FILTER, useRange } from '../lists/useRange.ts';
import { isOutcome } from './auditWords.ts';

const ACTORS = 'who';
const AREAS = 'area';

export type AuditListState = ReturnType<typeof useAuditList>;

/** What the address of an audit log asks for: for the filters above the list, and for the calls. */
export function useAuditList() {
  const state = useListState({ sort: { field: 'at', direction: 'desc' }, filters: [RANGE_FILTER, ACTORS, AREAS] });
  const range = useRange(state);
  const filter = (name: string) => ({
    value: state.values(name),
    onChange: (values: string[]) => state.setValues(name, values),
  });
  const actors = filter(ACTORS);
  const areas = filter(AREAS);
  const userIds = actors.value.map(Number).filter(Number.isSafeInteger);
  const criteria = {
    ...range.bounds,
    ...(userIds.length > 0 && { userIds }),
    ...(areas.value.length > 0 && { areas: areas.value }),
  };
  return {
    state,
    range,
    actors: {
      ...actors,
      /** For a control that takes one person. */
      single: {
        value: userIds[0] ?? null,
        onChange: (id: number | null) => actors.onChange(id === null ? [] : [String(id)]),
      },
    },
    areas,
    listInput: { ...criteria, entityFilterRequest: state.request },
    exportInput: { ...criteria, outcomes: state.statuses.filter(isOutcome) },
  };
}
