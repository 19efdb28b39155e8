import { IconChevronDown } from '@tabler/icons-react';
import { Button } from '../Button.tsx';
import { DropdownMenu, type MenuEntry } from '../DropdownMenu.tsx';

interface Option {
  value: string;
  label: string;
  /** Words above it and those that follow. */
  group?: string;
}

interface Props {
  label: string;
  /** The choice that narrows nothing; without it one of the options is always chosen. */
  any?: string;
  options: readonly Option[];
  /** Empty: any. */
  value: string;
  onChange(value: string): void;
  testId?: string;
}

/** Narrows a list to one of several values; the button says which. */
export function ChoiceFilter({ label, any, options, value, onChange, testId }: Props) {
  const chosen = options.find((option) => option.value === value);
  const items = (): MenuEntry[] => [
    ...(any === undefined ? [] : [{ label: any, chosen: value === '', onClick: () => onChange('') }]),
    ...options.flatMap((option, index): MenuEntry[] => {
      const entry = { label: option.label, chosen: option === chosen, onClick: () => onChange(option.value) };
      return option.group && option.group !== options[index - 1]?.group ? [{ heading: option.group }, entry] : [entry];
    }),
  ];
  return (
    <DropdownMenu items={items}>
      <Button color="gray" end={<IconChevronDown size={14} />} data-testid={testId}>
        {label}
        {chosen && `: ${chosen.label}`}
      </Button>
    </DropdownMenu>
  );
}
