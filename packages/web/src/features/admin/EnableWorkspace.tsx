import type { AdminClient } from '@stagi/contract/adminClients.ts';
import { api } from '@stagi/contract/api.ts';
import { invalidate } from '../../api/query.ts';
import { useCall } from '../../api/useCall.ts';
import { useT } from '../../i18n/i18n.ts';
import { ConfirmDialog } from '../../ui/dialogs/ConfirmDialog.tsx';
import { toast } from '../../ui/toasts.ts';

export function EnableWorkspace({ workspace, onClose }: { workspace: AdminClient | null; onClose(): void }) {
  const t = useT();
  const { run, loading } = useCall(api.adminClients.enable, {
    onDone: ({ entity }) => {
      void invalidate('admin/');
      toast.success(t('{{name}} has been enabled', { name: entity.name }));
      onClose();
    },
  });
  return (
    <ConfirmDialog
      opened={workspace !== null}
      onClose={onClose}
      onConfirm={() => workspace && void run({ id: workspace.id })}
      title={t('Enable {{name}}?', { name: workspace?.name ?? '' })}
      confirmLabel={t('Enable')}
      loading={loading}
    >
      {t('Its members get in again. Servers that were stopped stay stopped until somebody starts them.')}
    </ConfirmDialog>
  );
}
