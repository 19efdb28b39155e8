import { invalidate } from '../../api/query.ts';
import { useT } from '../../i18n/i18n.ts';
import { toast } from '../../ui/toasts.ts';

interface Answer {
  entity: { name: string };
}

/** What follows when somebody or a workspace was shut out, or let in again. */
export function useDisabled(onClose: () => void) {
  const t = useT();
  return (say: 'disabled' | 'enabled') =>
    ({ entity: { name } }: Answer): void => {
      void invalidate('admin/');
      toast.success(
        say === 'disabled' ? t('{{name}} has been disabled', { name }) : t('{{name}} has been enabled', { name }),
      );
      onClose();
    };
}
