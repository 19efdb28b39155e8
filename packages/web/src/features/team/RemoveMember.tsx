import { api } from '@stagi/contract/api.ts';
import type { Member } from '@stagi/contract/clients.ts';
import { invalidate } from '../../api/query.ts';
import { useCall } from '../../api/useCall.ts';
import { leaveRemovedWorkspace } from '../../api/user.ts';
import { useT } from '../../i18n/i18n.ts';
import { ConfirmDialog } from '../../ui/dialogs/ConfirmDialog.tsx';
import { toast } from '../../ui/toasts.ts';

/** Removes somebody; oneself is leaving, after which the app starts anew in another workspace. */
export function RemoveMember({ member, onClose }: { member: Member | null; onClose(): void }) {
  const t = useT();
  const { run, loading } = useCall(api.clients.removeMember, {
    onDone: () => {
      if (member?.isMe) {
        leaveRemovedWorkspace();
        return;
      }
      void invalidate('client/');
      toast.success(t('{{name}} has been removed', { name: member?.name ?? '' }));
      onClose();
    },
  });
  return (
    <ConfirmDialog
      variant="error"
      opened={member !== null}
      onClose={onClose}
      onConfirm={() => member && void run({ userId: member.userId })}
      title={member?.isMe ? t('Leave this workspace?') : t('Remove {{name}}?', { name: member?.name ?? '' })}
      lost={
        member?.isMe
          ? [t('Your access to it, your API tokens in it, and your SSH keys on its servers')]
          : [t('Their access to it, their API tokens in it, and their SSH keys on its servers')]
      }
      confirmLabel={member?.isMe ? t('Leave') : t('Remove')}
      loading={loading}
    >
      {t('Everything created in the workspace stays: servers, containers, data.')}
    </ConfirmDialog>
  );
}
