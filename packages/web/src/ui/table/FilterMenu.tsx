import { IconChevronDown } from '@tabler/icons-react';
import { useT } from '../../i18n/i18n.ts';
import { Button } from '../Button.tsx';
import { DropdownMenu, type MenuEntry } from '../DropdownMenu.tsx';
import { formatNumber } from '../format.ts';

interface Props {
  label: string;
  /** `count`: how many rows have the value. */
  options: readonly { value: string; label: string; count?: number }[];
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
      label: option.count === undefined ? option.label : `${option.label} (${formatNumber(option.count)})`,
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
