import type { Verdict } from '@stagi/contract/verdict.ts';
import { IconDots } from '@tabler/icons-react';
import type { MouseEventHandler, ReactNode } from 'react';
import { useT } from '../i18n/i18n.ts';
import { Button, type ButtonSize } from './Button.tsx';
import { DropdownMenu } from './DropdownMenu.tsx';
import { IconButton } from './IconButton.tsx';

interface ActionButtonProps {
  children: ReactNode;
  onClick: MouseEventHandler<HTMLElement>;
  verdict?: Verdict;
  icon?: ReactNode;
  loading?: boolean;
  /** `primary` for the one main action of a view. */
  tone?: 'primary' | 'default' | 'danger';
  size?: ButtonSize;
  testId?: string;
}

/** A button that stays focusable while its action is impossible, and says why. */
export function ActionButton({
  children,
  onClick,
  verdict,
  icon,
  loading,
  tone = 'default',
  size,
  testId,
}: ActionButtonProps) {
  const t = useT();
  return (
    <Button
      size={size}
      color={tone === 'default' ? 'gray' : tone}
      look={tone === 'danger' ? 'soft' : 'filled'}
      icon={icon}
      loading={loading}
      reason={verdict && !verdict.allowed ? t(verdict.reason) : null}
      data-testid={testId}
      onClick={onClick}
    >
      {children}
    </Button>
  );
}

export interface Action {
  label: string;
  onClick(): void;
  verdict?: Verdict;
  icon?: ReactNode;
  danger?: boolean;
  /** The next step on a detail page: the one main action, while it is possible. */
  primary?: boolean;
  /** On a detail page in the menu behind three dots, beside the buttons. */
  seldom?: boolean;
  testId?: string;
}

interface ActionMenuProps {
  /** A function is called only when the menu opens: a list has a menu in each row. */
  actions: readonly Action[] | (() => readonly Action[]);
  label?: string;
}

/** The actions of a row or a page behind three dots. Impossible ones are listed with the reason. */
export function ActionMenu({ actions, label }: ActionMenuProps) {
  const t = useT();
  const items = () =>
    (typeof actions === 'function' ? actions() : actions).map((action) => ({
      ...action,
      reason: action.verdict && !action.verdict.allowed ? t(action.verdict.reason) : null,
    }));
  return (
    <DropdownMenu position="bottom-end" items={items}>
      <IconButton label={label ?? t('Actions')} plain>
        <IconDots size={16} />
      </IconButton>
    </DropdownMenu>
  );
}
