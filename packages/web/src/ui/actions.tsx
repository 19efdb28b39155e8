import { ActionIcon, Button, type ButtonProps, Menu, Tooltip } from '@mantine/core';
import { IconDots } from '@tabler/icons-react';
import type { MouseEventHandler, ReactNode } from 'react';
import { useT } from '../i18n/i18n.ts';

/** Whether an action is possible now, and why not: what the contract's `…Can` rules answer. */
export type Verdict = { allowed: true } | { allowed: false; reason: string };

interface ActionButtonProps {
  children: ReactNode;
  onClick: MouseEventHandler<HTMLButtonElement>;
  verdict?: Verdict;
  icon?: ReactNode;
  loading?: boolean;
  /** `primary` for the one main action of a view. */
  tone?: 'primary' | 'default' | 'danger';
  size?: ButtonProps['size'];
  testId?: string;
}

/** A button that, while its action is impossible, stays in reach and says why. */
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
  const reason = verdict && !verdict.allowed ? t(verdict.reason) : null;
  const button = (
    <Button
      size={size}
      variant={tone === 'primary' ? 'filled' : tone === 'danger' ? 'light' : 'default'}
      color={tone === 'danger' ? 'red' : undefined}
      leftSection={icon}
      loading={loading}
      data-testid={testId}
      data-disabled={reason !== null || undefined}
      aria-disabled={reason !== null || undefined}
      onClick={reason === null ? onClick : (event) => event.preventDefault()}
    >
      {children}
    </Button>
  );
  return reason === null ? button : <Tooltip label={reason}>{button}</Tooltip>;
}

export interface Action {
  label: string;
  onClick(): void;
  verdict?: Verdict;
  icon?: ReactNode;
  danger?: boolean;
  testId?: string;
}

/** The actions of a row or a page behind three dots. Impossible ones are listed with the reason. */
export function ActionMenu({ actions, label }: { actions: readonly Action[]; label?: string }) {
  const t = useT();
  const name = label ?? t('Actions');
  return (
    <Menu position="bottom-end" withinPortal>
      <Menu.Target>
        <ActionIcon size={28} aria-label={name}>
          <IconDots size={16} />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        {actions.map((action) => (
          <MenuAction key={action.label} action={action} />
        ))}
      </Menu.Dropdown>
    </Menu>
  );
}

function MenuAction({ action }: { action: Action }) {
  const t = useT();
  const reason = action.verdict && !action.verdict.allowed ? t(action.verdict.reason) : null;
  const item = (
    <Menu.Item
      leftSection={action.icon}
      data-testid={action.testId}
      color={action.danger && reason === null ? 'var(--bad)' : undefined}
      data-disabled={reason !== null || undefined}
      aria-disabled={reason !== null || undefined}
      closeMenuOnClick={reason === null}
      onClick={reason === null ? action.onClick : undefined}
    >
      {action.label}
    </Menu.Item>
  );
  return reason === null ? (
    item
  ) : (
    <Tooltip label={reason} position="left">
      {item}
    </Tooltip>
  );
}
