import { UnstyledButton } from '@mantine/core';
import type { ComponentPropsWithRef, ReactNode } from 'react';
import classes from './Button.module.css';
import type { ButtonSize } from './Button.tsx';
import { Tooltip } from './Tooltip.tsx';

interface Props extends Omit<ComponentPropsWithRef<'button'>, 'children' | 'color'> {
  /** What it does: its name for screen readers and its tooltip. */
  label: string;
  children: ReactNode;
  size?: ButtonSize;
  color?: 'gray' | 'danger';
  /** Without a tooltip, where the label stands beside it or a menu follows. */
  plain?: boolean;
  /** Why the action is impossible now. The button stays focusable and shows this. */
  reason?: string | null;
}

/** A button that is an icon alone. */
export function IconButton({
  label,
  children,
  size = 'xxs',
  color = 'gray',
  plain = false,
  reason,
  onClick,
  className,
  ...others
}: Props) {
  const button = (
    // Rows hold several: the library's component would be most of their render cost.
    <button
      type="button"
      {...others}
      className={[UnstyledButton.classes.root, 'mantine-focus-auto', classes.round, className]
        .filter(Boolean)
        .join(' ')}
      data-size={size}
      data-color={color}
      data-disabled={reason ? true : undefined}
      aria-disabled={reason ? true : undefined}
      aria-label={label}
      onClick={reason ? undefined : onClick}
    >
      {children}
    </button>
  );
  if (reason)
    return (
      <Tooltip label={reason} keepOnPress>
        {button}
      </Tooltip>
    );
  return plain ? button : <Tooltip label={label}>{button}</Tooltip>;
}
