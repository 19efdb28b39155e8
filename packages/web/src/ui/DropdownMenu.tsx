import { Menu, type MenuProps } from '@mantine/core';
import { Fragment, type ReactElement, type ReactNode } from 'react';
import classes from './DropdownMenu.module.css';
import { Tooltip } from './Tooltip.tsx';

export interface MenuItem {
  label: string;
  onClick(): void;
  icon?: ReactNode;
  /** At the right: a shortcut, a count, what is chosen. */
  end?: ReactNode;
  danger?: boolean;
  /** Why it is impossible now; it is listed all the same. */
  reason?: string | null;
  testId?: string;
}

/** Words above the items that follow, or a line between them. */
export type MenuEntry = MenuItem | { heading: string } | 'divider';

interface Props {
  items: readonly MenuEntry[];
  /** The button that opens it; it needs a name. */
  children: ReactElement;
  /** `hover` opens it under the pointer too, and leaves time to come back to it. */
  trigger?: 'click' | 'hover';
  position?: MenuProps['position'];
}

/** What can be done here, in a list that opens below its button. */
export function DropdownMenu({ items, children, trigger = 'click', position = 'bottom-start' }: Props) {
  return (
    <Menu position={position} trigger={trigger === 'hover' ? 'click-hover' : 'click'}>
      <Menu.Target>{children}</Menu.Target>
      <Menu.Dropdown>
        {items.map((entry, index) => {
          if (entry === 'divider')
            // biome-ignore lint/suspicious/noArrayIndexKey: a line has nothing of its own to be known by
            return <Menu.Divider key={index} />;
          if ('heading' in entry) return <Menu.Label key={entry.heading}>{entry.heading}</Menu.Label>;
          return <Fragment key={entry.label}>{item(entry)}</Fragment>;
        })}
      </Menu.Dropdown>
    </Menu>
  );
}

function item({ label, onClick, icon, end, danger, reason, testId }: MenuItem) {
  const possible = !reason;
  // Not the library's `disabled`, which the arrow keys pass over: the reason would be out of reach.
  const line = (
    <Menu.Item
      leftSection={icon}
      rightSection={end}
      data-testid={testId}
      color={danger && possible ? 'var(--bad)' : undefined}
      className={possible ? undefined : classes.impossible}
      aria-disabled={!possible || undefined}
      closeMenuOnClick={possible}
      onClick={possible ? onClick : undefined}
    >
      {label}
    </Menu.Item>
  );
  return reason ? (
    <Tooltip label={reason} position="left" keepOnPress>
      {line}
    </Tooltip>
  ) : (
    line
  );
}
