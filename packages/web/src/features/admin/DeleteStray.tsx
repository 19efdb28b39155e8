import { api } from '@stagi/contract/api.ts';
import type { Stray } from '@stagi/contract/strays.ts';
import { invalidate } from '../../api/query.ts';
import { useCall } from '../../api/useCall.ts';
import { useT } from '../../i18n/i18n.ts';
import { ConfirmDialog } from '../../ui/dialogs/ConfirmDialog.tsx';
import { toast } from '../../ui/toasts.ts';

interface Props {
  stray: Stray | null;
  onClose(): void;
}

export function DeleteStray({ stray, onClose }: Props) {
  const t = useT();
  const { run, loading } = useCall(api.strays.delete, {
    onDone: () => {
      void invalidate('admin/');
      toast.success(t('The machine is deleted with the next look at its cloud'));
      onClose();
    },
  });
  return (
    <ConfirmDialog
      variant="error"
      opened={stray !== null}
      onClose={onClose}
      onConfirm={() => stray && void run({ id: stray.id })}
      title={t('Delete “{{title}}”?', { title: stray?.name ?? '' })}
      confirmLabel={t('Delete')}
      typeSlug={stray?.name}
      lost={[t('The machine at {{provider}} and everything on its disks', { provider: stray?.providerTitle ?? '' })]}
      loading={loading}
    >
      {t('It does not wait for the end of its quarantine.')}
    </ConfirmDialog>
  );
}
