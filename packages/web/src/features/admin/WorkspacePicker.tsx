import { api } from '@stagi/contract/api.ts';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { errorText } from '../../api/messages.ts';
import { q } from '../../api/query.ts';
import { useT } from '../../i18n/i18n.ts';
import { useOptionSearch } from '../../lists/useOptionSearch.ts';
import { Select, type SelectProps } from '../../ui/form/Select.tsx';

interface Option {
  value: number;
  label: string;
  description: string;
}

type Picked = Extract<SelectProps<Option, number>, { multiple?: false }>;

type Props = Omit<Picked, 'options' | 'found' | 'value' | 'onChange' | 'multiple'> & {
  value?: number | null;
  /** The name of the initial value, once it is known. */
  called?: string;
  onChange(id: number | null): void;
};

/** Picks one of all workspaces, by name, id or the email of an owner. */
export function WorkspacePicker({ value = null, called, onChange, error, ...field }: Props) {
  const t = useT();
  const { entityFilterRequest, query, found } = useOptionSearch();
  const [picked, setPicked] = useState<Option | null>(null);
  const list = useQuery({
    ...q(api.adminClients.list, { entityFilterRequest }, { quiet: true }),
    ...query,
  });
  const options = (list.data?.entities ?? []).map(({ id, name, owner }) => ({
    value: id,
    label: name,
    description: owner ? `${id} · ${owner.email}` : String(id),
  }));

  return (
    <Select<Option, number>
      {...(field as Picked)}
      options={options}
      value={value}
      onChange={(id) => {
        setPicked(options.find((option) => option.value === id) ?? null);
        onChange(id);
      }}
      error={error ?? (list.error && errorText(list.error))}
      found={{
        ...found(list),
        hint: t('Name, id or owner’s email'),
        chosenLabel: picked?.value === value ? picked?.label : (called ?? `${value}`),
      }}
    />
  );
}
