import type { AuditEntry } from '@stagi/contract/audit.ts';
import type { ReactNode } from 'react';
import { useT } from '../../i18n/i18n.ts';
import { personName } from '../../i18n/personName.ts';
import { FilterMenu } from '../FilterMenu.tsx';
import { AREAS, OUTCOMES } from './auditWords.ts';

interface Props {
  /** Whom and what the log speaks of; undefined while it is fetched. */
  log:
    | { actors: readonly NonNullable<AuditEntry['actor']>[]; isMoreActors?: true; areas: readonly string[] }
    | undefined;
  /** Finds one of people of whom there are too many for a menu. */
  finder: ReactNode;
  userIds: readonly string[];
  onUserIds(ids: string[]): void;
  areas: readonly string[];
  onAreas(areas: string[]): void;
  outcomes: readonly string[];
  onOutcomes(outcomes: string[]): void;
}

/** Narrows an audit log by who, about what and how it ended. */
export function AuditFilters({ log, finder, userIds, onUserIds, areas, onAreas, outcomes, onOutcomes }: Props) {
  const t = useT();
  return (
    <>
      {log?.isMoreActors ? (
        finder
      ) : (
        <FilterMenu
          label={t('Who')}
          options={(log?.actors ?? []).map(({ userId, name, email }) => ({
            value: String(userId),
            label: `${personName(t, name)} · ${email}`,
          }))}
          value={userIds}
          onChange={onUserIds}
        />
      )}
      <FilterMenu
        label={t('About')}
        options={(log?.areas ?? []).map((area) => ({ value: area, label: t(AREAS[area] ?? area) }))}
        value={areas}
        onChange={onAreas}
      />
      <FilterMenu
        label={t('Outcome')}
        options={Object.entries(OUTCOMES).map(([value, word]) => ({ value, label: t(word) }))}
        value={outcomes}
        onChange={onOutcomes}
      />
    </>
  );
}
