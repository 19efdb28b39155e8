import { api } from '@stagi/contract/api.ts';
import type { Invite } from '@stagi/contract/invites.ts';
import { invalidate } from '../../api/query.ts';
import { useCall } from '../../api/useCall.ts';
import { useT } from '../../i18n/i18n.ts';
import { ConfirmDialog } from '../../ui/dialogs/ConfirmDialog.tsx';
import { toast } from '../../ui/toasts.ts';

export function RevokeInvite({ invite, onClose }: { invite: Invite | null; onClose(): void }) {
  const t = useT();
  const { run, loading } = useCall(api.invites.revoke, {
    onDone: () => {
      void invalidate('client/invite/');
      toast.success(t('The join link has been revoked'));
      onClose();
    },
  });
  return (
    <ConfirmDialog
      variant="error"
      opened={invite !== null}
      onClose={onClose}
      onConfirm={() => invite && void run({ id: invite.id })}
      title={t('Revoke the join link?')}
      confirmLabel={t('Revoke')}
      loading={loading}
    >
      {t('Nobody can join by it any more. Who has joined stays a member.')}
    </ConfirmDialog>
  );
}
