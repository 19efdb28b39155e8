import { Stack } from '@mantine/core';
import type { AdminUser } from '@stagi/contract/adminUsers.ts';
import { api } from '@stagi/contract/api.ts';
import { invalidate } from '../../api/query.ts';
import { useCallForm } from '../../api/useCallForm.ts';
import { useT } from '../../i18n/i18n.ts';
import { Dialog } from '../../ui/dialogs/Dialog.tsx';
import { DialogButtons } from '../../ui/dialogs/DialogButtons.tsx';
import { VariantTitle } from '../../ui/dialogs/VariantTitle.tsx';
import { Form } from '../../ui/form/Form.tsx';
import { Textarea } from '../../ui/form/Textarea.tsx';
import { toast } from '../../ui/toasts.ts';

interface Props {
  user: AdminUser | null;
  onClose(): void;
}

export function DisableUser({ user, onClose }: Props) {
  const t = useT();
  return (
    <Dialog
      opened={user !== null}
      onClose={onClose}
      title={<VariantTitle variant="error">{t('Disable {{name}}?', { name: user?.name ?? '' })}</VariantTitle>}
      withClose={false}
      testId="disable-dialog"
    >
      {user && <Reason user={user} onClose={onClose} />}
    </Dialog>
  );
}

function Reason({ user, onClose }: { user: AdminUser; onClose(): void }) {
  const t = useT();
  const { field, submit, loading } = useCallForm(api.adminUsers.disable, {
    initialValues: { reason: '' },
    toInput: ({ reason }) => ({ id: user.id, reason }),
    onDone: ({ entity }) => {
      void invalidate('admin/');
      toast.success(t('{{name}} has been disabled', { name: entity.name }));
      onClose();
    },
  });
  return (
    <Form onSubmit={submit} noValidate>
      <Stack gap={16}>
        <div>
          {t(
            'They are logged out everywhere at once; their API tokens and SSH keys open nothing until you enable them again. Servers in their workspaces keep running.',
          )}
        </div>
        <Textarea
          label={t('Reason')}
          name="reason"
          description={t('It is mailed to {{email}}.', { email: user.email })}
          data-autofocus
          {...field('reason')}
        />
        <DialogButtons onCancel={onClose} submitLabel={t('Disable')} danger loading={loading} testId="disable-submit" />
      </Stack>
    </Form>
  );
}
