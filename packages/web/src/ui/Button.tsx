import { createPolymorphicComponent, UnstyledButton, type UnstyledButtonProps } from '@mantine/core';
import type { MouseEvent, MouseEventHandler, ReactNode } from 'react';
import { useT } from '../i18n/i18n.ts';
import classes from './Button.module.css';
import type { BUTTON_COLORS, BUTTON_SIZES, LOADER_SIZES } from './kitConstants.ts';
import { Loader } from './Loader.tsx';
import { Tooltip } from './Tooltip.tsx';

export type ButtonColor = (typeof BUTTON_COLORS)[number];
export type ButtonSize = (typeof BUTTON_SIZES)[number];

export interface ButtonProps extends Omit<UnstyledButtonProps, 'color' | 'size'> {
  /** `primary` for the one main action of a view, `gray` for the others. */
  color?: ButtonColor;
  size?: ButtonSize;
  /** `soft` is tinted instead of filled, `quiet` shows its ground only under the pointer. */
  look?: 'filled' | 'soft' | 'quiet';
  icon?: ReactNode;
  /** After the label. */
  end?: ReactNode;
  fullWidth?: boolean;
  /** While true the button does nothing and says so; it keeps the focus. */
  loading?: boolean;
  disabled?: boolean;
  /** Why the action is impossible now. The button stays focusable and shows this on hover and focus. */
  reason?: string | null;
  onClick?: MouseEventHandler<HTMLElement>;
  children?: ReactNode;
}

/** A button, or with `component` a link that looks like one. */
export const Button = createPolymorphicComponent<'button', ButtonProps>(KitButton);

function KitButton({
  color = 'primary',
  size = 's',
  look = 'filled',
  icon,
  end,
  fullWidth,
  loading = false,
  disabled = false,
  reason,
  onClick,
  className,
  children,
  ...others
}: ButtonProps & { component?: 'button' }) {
  const t = useT();
  const impossible = Boolean(reason);
  const button = (
    <UnstyledButton
      {...others}
      className={[classes.button, className].filter(Boolean).join(' ')}
      data-color={color}
      data-size={size}
      data-look={look}
      data-full-width={fullWidth || undefined}
      data-loading={loading || undefined}
      data-disabled={disabled || impossible || undefined}
      disabled={disabled && !impossible}
      aria-disabled={loading || disabled || impossible || undefined}
      aria-busy={loading || undefined}
      onClick={loading || disabled || impossible ? refuse : onClick}
    >
      <span className={classes.inner}>
        {icon && <span className={classes.icon}>{icon}</span>}
        {children !== undefined && <span className={classes.label}>{children}</span>}
        {end && <span className={classes.icon}>{end}</span>}
      </span>
      {loading && (
        <span className={classes.loader}>
          <Loader size={LOADER_OF[size]} label={t('In progress')} inherit />
        </span>
      )}
    </UnstyledButton>
  );
  return reason ? (
    <Tooltip label={reason} keepOnPress>
      {button}
    </Tooltip>
  ) : (
    button
  );
}

const LOADER_OF: Record<ButtonSize, (typeof LOADER_SIZES)[number]> = {
  xxxs: 'xs',
  xxs: 'xs',
  xs: 'xs',
  s: 's',
  m: 's',
  l: 's',
};

/** Keeps a form from being sent too: Enter in a field presses its submit button. */
function refuse(event: MouseEvent): void {
  event.preventDefault();
  event.stopPropagation();
}
