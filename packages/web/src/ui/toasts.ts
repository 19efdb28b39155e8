import { notifications } from '@mantine/notifications';
import { IconAlertTriangle, IconCheck, IconInfoCircle } from '@tabler/icons-react';
import { createElement } from 'react';
import { t } from '../i18n/i18n.ts';
import { TOAST_MS } from './kitConstants.ts';

/** Short words at the bottom right. The same text shown twice at once stays one toast. */
export const toast = {
  error: (message: string) => show(message, KINDS.error),
  success: (message: string) => show(message, KINDS.success),
  info: (message: string) => show(message, KINDS.info),
};

const KINDS = {
  error: { color: 'red', role: 'alert', icon: IconAlertTriangle },
  success: { color: 'green', role: 'status', icon: IconCheck },
  info: { color: 'indigo', role: 'status', icon: IconInfoCircle },
};

function show(message: string, { color, role, icon }: (typeof KINDS)[keyof typeof KINDS]): void {
  const id = `${color}:${message}`;
  notifications.hide(id);
  notifications.show({
    id,
    message,
    color,
    role,
    icon: createElement(icon, { size: 16, 'aria-hidden': true }),
    autoClose: TOAST_MS,
    withBorder: true,
    closeButtonProps: { 'aria-label': t('Close') },
    // The pointer holds all of them by itself; whoever comes by keyboard has as much time.
    onFocusCapture: () => notifications.update({ id, message, autoClose: false }),
    onBlurCapture: () => notifications.update({ id, message, autoClose: TOAST_MS }),
  });
}
