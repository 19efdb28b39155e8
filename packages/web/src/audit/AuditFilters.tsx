import type { AuditEntry } from '@stagi/contract/audit.ts';
import { useT } from '../i18n/i18n.ts';
import { personName } from '../i18n/personName.ts';
import { DateRangePicker } from '../ui/dateRange/DateRangePicker.tsx';
import { FilterMenu } from '../ui/table/FilterMenu.tsx';
import { ActorPicker } from './ActorPicker.tsx';
import { AREAS, OUTCOMES } from './auditWords.ts';
import type { AuditListState } from './useAuditList.ts';

interface Props {
  audit: AuditListState;
  /** Whom and what the log speaks of; undefined while it is fetched. */
  log:
    | { actors: readonly NonNullable<AuditEntry['actor']>[]; isMoreActors?: true; areas: readonly string[] }
    | undefined;
  /** Whose log operators read. */
  operators?: { workspaceId: number | null };
}

/** Narrows an audit log by who, about what, how it ended and when. */
export function AuditFilters({ audit: { state, range, actors, areas }, log, operators }: Props) {
  const t = useT();
  return (
    <>
      {log?.isMoreActors ? (
        <ActorPicker operators={operators} {...actors.single} chosen={log.actors} />
      ) : (
        <FilterMenu
          label={t('Who')}
          options={(log?.actors ?? []).map(({ userId, name, email }) => ({
            value: String(userId),
            label: `${personName(t, name)} · ${email}`,
          }))}
          value={actors.value}
          onChange={actors.onChange}
        />
      )}
      <FilterMenu
        label={t('About')}
        options={(log?.areas ?? []).map((area) => ({ value: area, label: t(AREAS[area] ?? area) }))}
        value={areas.value}
        onChange={areas.onChange}
      />
      <FilterMenu
        label={t('Outcome')}
        options={Object.entries(OUTCOMES).map(([value, word]) => ({ value, label: t(word) }))}
        value={state.statuses}
        onChange={state.setStatuses}
      />
      <DateRangePicker label={t('When')} value={range.value} onChange={range.set} clearable />
    </>
  );
}
