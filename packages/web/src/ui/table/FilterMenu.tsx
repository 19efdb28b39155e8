import { IconChevronDown } from '@tabler/icons-react';
import { useT } from '../../i18n/i18n.ts';
import { Button } from '../Button.tsx';
import { DropdownMenu, type MenuEntry } from '../DropdownMenu.tsx';
import { STATUS } from '../status.ts';

interface Props {
  label: string;
  options: readonly { value: string; label: string }[];
  value: readonly string[];
  onChange(values: string[]): void;
}

/** Narrows a list to some of several values; the button says which. */
export function FilterMenu({ label, options, value, onChange }: Props) {
  const t = useT();
  const chosen = options.filter((option) => value.includes(option.value));
  const items: MenuEntry[] = options.map((option) => {
    const isOn = value.includes(option.value);
    return {
      label: option.label,
      checked: isOn,
      onToggle: () => onChange(isOn ? value.filter((other) => other !== option.value) : [...value, option.value]),
    };
  });
  if (chosen.length > 0) items.push('divider', { label: t('Clear'), onClick: () => onChange([]) });
  return (
    <DropdownMenu items={items}>
      <Button color="gray" end={<IconChevronDown size={14} />}>
        {label}
        {chosen.length > 0 && `: ${chosen[0]?.label}`}
        {chosen.length > 1 && ` +${chosen.length - 1}`}
      </Button>
    </DropdownMenu>
  );
}

interface StatusFilterProps {
  statuses: readonly string[];
  value: readonly string[];
  onChange(values: string[]): void;
}

/** `FilterMenu` over the statuses of one kind of thing. */
export function StatusFilter({ statuses, value, onChange }: StatusFilterProps) {
  const t = useT();
  const options = statuses.map((status) => ({ value: status, label: t(STATUS[status]?.word ?? status) }));
  return <FilterMenu label={t('Status')} options={options} value={value} onChange={onChange} />;
}
