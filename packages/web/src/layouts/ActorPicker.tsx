import { useDebouncedValue } from '@mantine/hooks';
import { api } from '@stagi/contract/api.ts';
import type { AuditEntry } from '@stagi/contract/audit.ts';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { errorText } from '../api/messages.ts';
import { q } from '../api/query.ts';
import { useT } from '../i18n/i18n.ts';
import { personName } from '../i18n/personName.ts';
import { Select } from '../ui/form/Select.tsx';

interface Props {
  /** Whose log; left out: that of the workspace one is in. */
  operators?: { workspaceId: number | null };
  /** Who is chosen, as the log names them: several where an address says so. */
  chosen: readonly NonNullable<AuditEntry['actor']>[] | undefined;
  value: number | null;
  onChange(userId: number | null): void;
}

const SHOWN = 20;
const TYPING_MS = 250;

/** One of the people who stand in a log that has too many of them for a menu, found by name or address. */
export function ActorPicker({ operators, chosen, value, onChange }: Props) {
  const t = useT();
  const [search, setSearch] = useState('');
  const [opened, setOpened] = useState(false);
  const [asked] = useDebouncedValue(search.trim(), TYPING_MS);
  const entityFilterRequest = { queryString: asked || undefined, limit: SHOWN };
  const list = useQuery({
    ...(operators
      ? q(api.audit.listActorsForOperators, { ...operators, entityFilterRequest }, { quiet: true })
      : q(api.audit.listActors, { entityFilterRequest }, { quiet: true })),
    enabled: opened,
    placeholderData: keepPreviousData,
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
      clearable
      w={{ base: '100%', sm: 220 }}
      data-testid="audit-who"
      found={{
        search,
        onSearch: setSearch,
        hint: t('Name or email'),
        stale: search.trim() !== asked || list.isPlaceholderData || (list.isFetching && list.data === undefined),
        onOpen: () => setOpened(true),
        chosenLabel:
          value === null ? undefined : chosen?.map(({ name }) => personName(t, name)).join(', ') || `#${value}`,
      }}
    />
  );
}
