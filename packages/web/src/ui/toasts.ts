import { notifications } from '@mantine/notifications';
import { TOAST_MS } from './kitConstants.ts';

/** Short words at the bottom right. The same text shown twice at once stays one toast. */
export const toast = {
  error: (message: string) => show(message, 'red'),
  success: (message: string) => show(message, 'green'),
  info: (message: string) => show(message, 'indigo'),
};

function show(message: string, color: string): void {
  const id = `${color}:${message}`;
  notifications.hide(id);
  notifications.show({
    id,
    message,
    color,
    autoClose: TOAST_MS,
    withBorder: true,
    role: color === 'red' ? 'alert' : 'status',
  });
}
