import { Stack, Text } from '@mantine/core';
import { api } from '@stagi/contract/api.ts';
import type { Member } from '@stagi/contract/clients.ts';
import { useState } from 'react';
import { invalidate } from '../../api/query.ts';
import { useCall } from '../../api/useCall.ts';
import { leaveRemovedWorkspace } from '../../api/user.ts';
import { useT } from '../../i18n/i18n.ts';
import { ConfirmDialog } from '../../ui/dialogs/ConfirmDialog.tsx';
import { Checkbox } from '../../ui/form/Checkbox.tsx';
import { toast } from '../../ui/toasts.ts';

/** Removes somebody; oneself is leaving, after which the app starts anew in another workspace. */
export function RemoveMember({ member, onClose }: { member: Member | null; onClose(): void }) {
  const t = useT();
  const [keepKeys, setKeepKeys] = useState(false);
  const made = member?.isMe ? 0 : (member?.keysAndLinks ?? 0);
  const close = () => {
    setKeepKeys(false);
    onClose();
  };
  const { run, loading } = useCall(api.clients.removeMember, {
    onDone: () => {
      if (member?.isMe) {
        leaveRemovedWorkspace();
        return;
      }
      void invalidate('client/');
      toast.success(t('{{name}} has been removed', { name: member?.name ?? '' }));
      close();
    },
  });
  return (
    <ConfirmDialog
      variant="error"
      opened={member !== null}
      onClose={close}
      onConfirm={() => member && void run({ userId: member.userId, ...(made > 0 && { keepKeys }) })}
      title={member?.isMe ? t('Leave this workspace?') : t('Remove {{name}}?', { name: member?.name ?? '' })}
      lost={
        member?.isMe
          ? [t('Your access to it, your API tokens in it, and your SSH keys on its servers')]
          : [
              t('Their access to it, their API tokens in it, and their SSH keys on its servers'),
              ...(made > 0 && !keepKeys
                ? [t('{{count}} access keys and share links to its storages that they made', { count: made })]
                : []),
            ]
      }
      confirmLabel={member?.isMe ? t('Leave') : t('Remove')}
      loading={loading}
    >
      <Stack gap={12}>
        <Text>{t('Everything created in the workspace stays: servers, containers, data.')}</Text>
        {made > 0 && (
          <Checkbox
            name="keepKeys"
            label={t('Keep the {{count}} access keys and share links that they made', { count: made })}
            description={t('Programs and people who have them go on using the storages.')}
            checked={keepKeys}
            onChange={(event) => setKeepKeys(event.currentTarget.checked)}
          />
        )}
      </Stack>
    </ConfirmDialog>
  );
}
