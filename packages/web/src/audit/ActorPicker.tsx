import { api } from '@stagi/contract/api.ts';
import type { AuditEntry } from '@stagi/contract/audit.ts';
import { useQuery } from '@tanstack/react-query';
import { errorText } from '../api/messages.ts';
import { q } from '../api/query.ts';
import { useT } from '../i18n/i18n.ts';
import { personName } from '../i18n/personName.ts';
import { useOptionSearch } from '../lists/useOptionSearch.ts';
import { Select } from '../ui/form/Select.tsx';

interface Props {
  /** Whose log; left out: that of the workspace one is in. */
  operators?: { workspaceId: number | null };
  /** Who is chosen, as the log names them: several where an address says so. */
  chosen: readonly NonNullable<AuditEntry['actor']>[] | undefined;
  value: number | null;
  onChange(userId: number | null): void;
}

/** One of the people who stand in a log that has too many of them for a menu, found by name or address. */
export function ActorPicker({ operators, chosen, value, onChange }: Props) {
  const t = useT();
  const { entityFilterRequest, query, found } = useOptionSearch();
  const list = useQuery({
    ...(operators
      ? q(api.audit.listActorsForOperators, { ...operators, entityFilterRequest }, { quiet: true })
      : q(api.audit.listActors, { entityFilterRequest }, { quiet: true })),
    ...query,
  });
  const options = (list.data?.entities ?? []).map(({ userId, name, email }) => ({
    value: userId,
    label: personName(t, name),
    description: email,
  }));
  return (
    <Select
      aria-label={t('Who')}
      placeholder={t('Who')}
      options={options}
      value={value}
      onChange={onChange}
      error={list.error && errorText(list.error)}
      mayBeEmpty
      w={{ base: '100%', sm: 220 }}
      data-testid="audit-who"
      found={{
        ...found(list),
        hint: t('Name or email'),
        chosenLabel:
          value === null ? undefined : chosen?.map(({ name }) => personName(t, name)).join(', ') || `#${value}`,
      }}
    />
  );
}
