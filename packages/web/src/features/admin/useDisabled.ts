import { invalidate } from '../../api/query.ts';
import { useT } from '../../i18n/i18n.ts';
import { toast } from '../../ui/toasts.ts';

/** What follows when a user or a workspace was disabled. */
export function useDisabled(onClose: () => void) {
  const t = useT();
  return ({ entity: { name } }: { entity: { name: string } }): void => {
    void invalidate('admin/');
    toast.success(t('{{name}} has been disabled', { name }));
    onClose();
  };
}
