import type { AdminUser } from '@stagi/contract/adminUsers.ts';
import { api } from '@stagi/contract/api.ts';
import { invalidate } from '../../api/query.ts';
import { useCall } from '../../api/useCall.ts';
import { useT } from '../../i18n/i18n.ts';
import { ConfirmDialog } from '../../ui/dialogs/ConfirmDialog.tsx';
import { toast } from '../../ui/toasts.ts';

export function EnableUser({ user, onClose }: { user: AdminUser | null; onClose(): void }) {
  const t = useT();
  const { run, loading } = useCall(api.adminUsers.enable, {
    onDone: ({ entity }) => {
      void invalidate('admin/');
      toast.success(t('{{name}} has been enabled', { name: entity.name }));
      onClose();
    },
  });
  return (
    <ConfirmDialog
      opened={user !== null}
      onClose={onClose}
      onConfirm={() => user && void run({ id: user.id })}
      title={t('Enable {{name}}?', { name: user?.name ?? '' })}
      confirmLabel={t('Enable')}
      loading={loading}
    >
      {t('They can log in again, with the workspaces, API tokens and SSH keys they had. A mail tells them so.')}
    </ConfirmDialog>
  );
}
