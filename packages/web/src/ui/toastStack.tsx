import { Notifications, notifications } from '@mantine/notifications';
import { IconAlertTriangle, IconCheck, IconInfoCircle } from '@tabler/icons-react';
import { t } from '../i18n/i18n.ts';
import { TOAST_LIMIT, TOAST_MS } from './kitConstants.ts';

/** Where toasts stand. */
export function ToastStack() {
  return <Notifications position="bottom-right" autoClose={TOAST_MS} limit={TOAST_LIMIT} />;
}

const KINDS = {
  error: { color: 'red', role: 'alert', icon: IconAlertTriangle },
  success: { color: 'green', role: 'status', icon: IconCheck },
  info: { color: 'indigo', role: 'status', icon: IconInfoCircle },
  notice: { color: 'yellow', role: 'status', icon: IconInfoCircle },
};

export type ToastKind = keyof typeof KINDS;

export function showToast(message: string, kind: ToastKind, title?: string): void {
  const { color, role, icon: Icon } = KINDS[kind];
  const id = `${color}:${title ?? ''}:${message}`;
  const closesAfter = kind === 'notice' ? false : TOAST_MS;
  notifications.hide(id);
  notifications.show({
    id,
    title,
    message,
    color,
    role,
    icon: <Icon size={16} aria-hidden />,
    autoClose: closesAfter,
    withBorder: true,
    closeButtonProps: { 'aria-label': t('Close') },
    // Hovering pauses all toasts by itself. Keyboard focus pauses this one.
    onFocusCapture: () => notifications.update({ id, title, message, autoClose: false }),
    onBlurCapture: () => notifications.update({ id, title, message, autoClose: closesAfter }),
  });
}
