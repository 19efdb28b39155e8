import type { AdminUser } from '@stagi/contract/adminUsers.ts';
import { api } from '@stagi/contract/api.ts';
import { useCallForm } from '../../api/useCallForm.ts';
import { useT } from '../../i18n/i18n.ts';
import { DisableDialog, ReasonForm } from './DisableDialog.tsx';
import { useDisabled } from './useDisabled.ts';

interface Props {
  user: AdminUser | null;
  onClose(): void;
}

export function DisableUser({ user, onClose }: Props) {
  return (
    <DisableDialog of={user} onClose={onClose}>
      {(one) => <Reason user={one} onClose={onClose} />}
    </DisableDialog>
  );
}

function Reason({ user, onClose }: { user: AdminUser; onClose(): void }) {
  const t = useT();
  const onDone = useDisabled(onClose);
  const form = useCallForm(api.adminUsers.disable, {
    initialValues: { reason: '' },
    toInput: ({ reason }) => ({ id: user.id, reason }),
    onDone,
  });
  return (
    <ReasonForm
      {...form}
      onClose={onClose}
      lead={t(
        'They are logged out everywhere at once; their API tokens and SSH keys stop working until you enable the account again. Servers in their workspaces keep running.',
      )}
      readers={t('It is emailed to {{email}}.', { email: user.email })}
    />
  );
}
