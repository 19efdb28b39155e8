import { type FloatingPosition, Menu } from '@mantine/core';
import { Fragment, type Ref, type RefObject, useEffect, useLayoutEffect, useState } from 'react';
import classes from './DropdownMenu.module.css';
import type { MenuCheck, MenuChoice, MenuEntry, MenuItem } from './DropdownMenu.tsx';
import { Tooltip } from './Tooltip.tsx';

interface Props {
  /** That of the button. */
  id: string;
  button: RefObject<HTMLElement | null>;
  opened: boolean;
  onClose(): void;
  position: FloatingPosition;
  items: readonly MenuEntry[] | (() => readonly MenuEntry[]);
  onMouseEnter?(): void;
  onMouseLeave?(): void;
}

/** The list of a `DropdownMenu`, fetched and drawn when one is first opened. */
export function MenuPopup({ id, button, opened, onClose, position, items, ...hover }: Props) {
  // Opens after the first render: otherwise it would not know where the focus came from.
  const [isThere, setIsThere] = useState(false);
  useEffect(() => setIsThere(true), []);
  return (
    <Menu id={id} position={position} opened={isThere && opened} onChange={(open) => !open && onClose()}>
      <Menu.Target>
        <ButtonOutside button={button} />
      </Menu.Target>
      <Menu.Dropdown {...hover} mah={360} style={{ overflowY: 'auto' }}>
        {(typeof items === 'function' ? items() : items).map(drawn)}
      </Menu.Dropdown>
    </Menu>
  );
}

/** Gives the library the existing button as the target of the menu; renders nothing. */
function ButtonOutside({ button, ref }: { button: Props['button']; ref?: Ref<HTMLElement> }) {
  useLayoutEffect(() => {
    if (typeof ref !== 'function') return;
    ref(button.current);
    return () => void ref(null);
  }, [button, ref]);
  return null;
}

function drawn(entry: MenuEntry, index: number) {
  if (entry === 'divider') return <Menu.Divider key={index} />;
  if ('heading' in entry) return <Menu.Label key={entry.heading}>{entry.heading}</Menu.Label>;
  return <Fragment key={entry.label}>{kindOf(entry)}</Fragment>;
}

function kindOf(entry: MenuItem | MenuCheck | MenuChoice) {
  if ('checked' in entry) return check(entry);
  return 'chosen' in entry ? choice(entry) : item(entry);
}

function choice({ label, chosen, onClick }: MenuChoice) {
  return (
    <Menu.RadioItem value={label} checked={chosen} onChange={onClick} closeMenuOnClick>
      {label}
    </Menu.RadioItem>
  );
}

function check({ label, checked, onToggle }: MenuCheck) {
  return (
    <Menu.CheckboxItem checked={checked} onChange={onToggle} closeMenuOnClick={false}>
      {label}
    </Menu.CheckboxItem>
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
