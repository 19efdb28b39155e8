import { api } from '@stagi/contract/api.ts';
import { useCall } from '../../api/useCall.ts';
import { useT } from '../../i18n/i18n.ts';
import { ConfirmDialog } from '../../ui/dialogs/ConfirmDialog.tsx';
import { useDisabled } from './useDisabled.ts';

interface Props {
  what: 'user' | 'workspace';
  /** Null: closed. */
  of: { id: number; name: string } | null;
  onClose(): void;
}

const CALL = { user: api.adminUsers.enable, workspace: api.adminClients.enable };

/** Asks before somebody or a workspace is let in again. */
export function EnableDialog({ what, of, onClose }: Props) {
  const t = useT();
  const done = useDisabled(onClose);
  const { run, loading } = useCall<(typeof CALL)[typeof what]>(CALL[what], { onDone: done('enabled') });
  return (
    <ConfirmDialog
      opened={of !== null}
      onClose={onClose}
      onConfirm={() => of && void run({ id: of.id })}
      title={t('Enable {{name}}?', { name: of?.name ?? '' })}
      confirmLabel={t('Enable')}
      loading={loading}
    >
      {what === 'user'
        ? t('They can log in again, with the workspaces, API tokens and SSH keys they had. A mail tells them so.')
        : t(
            'Its members get in again, and a mail tells them so. Servers that were stopped stay stopped until somebody starts them.',
          )}
    </ConfirmDialog>
  );
}
