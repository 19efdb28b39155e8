import { Menu } from '@mantine/core';
import { IconChevronDown } from '@tabler/icons-react';
import { useT } from '../i18n/i18n.ts';
import { Button } from './Button.tsx';
import { STATUS } from './status.ts';

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
  return (
    <Menu position="bottom-start" withinPortal>
      <Menu.Target>
        <Button color="gray" end={<IconChevronDown size={14} />}>
          {label}
          {chosen.length > 0 && `: ${chosen[0]?.label}`}
          {chosen.length > 1 && ` +${chosen.length - 1}`}
        </Button>
      </Menu.Target>
      <Menu.Dropdown mah={320} style={{ overflowY: 'auto' }}>
        <Menu.CheckboxGroup value={[...value]} onChange={onChange}>
          {options.map((option) => (
            <Menu.CheckboxItem key={option.value} value={option.value}>
              {option.label}
            </Menu.CheckboxItem>
          ))}
        </Menu.CheckboxGroup>
        {chosen.length > 0 && (
          <>
            <Menu.Divider />
            <Menu.Item onClick={() => onChange([])}>{t('Clear')}</Menu.Item>
          </>
        )}
      </Menu.Dropdown>
    </Menu>
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
