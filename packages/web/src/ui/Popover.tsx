import { Popover as MantinePopover, type PopoverProps } from '@mantine/core';
import type { ReactElement, ReactNode } from 'react';

interface Props extends Pick<PopoverProps, 'position' | 'offset' | 'opened' | 'onChange' | 'width'> {
  /** The button that opens and closes it. */
  target: ReactElement;
  children: ReactNode;
}

/** A small place of its own over the page. Escape and a press outside close it; the focus goes in and comes back. */
export function Popover({ target, children, position = 'bottom-start', ...others }: Props) {
  return (
    <MantinePopover {...others} position={position} trapFocus returnFocus>
      <MantinePopover.Target>{target}</MantinePopover.Target>
      <MantinePopover.Dropdown>{children}</MantinePopover.Dropdown>
    </MantinePopover>
  );
}
