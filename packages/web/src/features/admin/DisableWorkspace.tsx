import { Stack } from '@mantine/core';
import type { AdminClient } from '@stagi/contract/adminClients.ts';
import { api } from '@stagi/contract/api.ts';
import { useQuery } from '@tanstack/react-query';
import { invalidate, q } from '../../api/query.ts';
import { useCallForm } from '../../api/useCallForm.ts';
import { useT } from '../../i18n/i18n.ts';
import { Dialog } from '../../ui/dialogs/Dialog.tsx';
import { DialogButtons } from '../../ui/dialogs/DialogButtons.tsx';
import { VariantTitle } from '../../ui/dialogs/VariantTitle.tsx';
import { Checkbox } from '../../ui/form/Checkbox.tsx';
import { Form } from '../../ui/form/Form.tsx';
import { Textarea } from '../../ui/form/Textarea.tsx';
import { toast } from '../../ui/toasts.ts';

interface Props {
  workspace: AdminClient | null;
  onClose(): void;
}

export function DisableWorkspace({ workspace, onClose }: Props) {
  const t = useT();
  return (
    <Dialog
      opened={workspace !== null}
      onClose={onClose}
      title={<VariantTitle variant="error">{t('Disable {{name}}?', { name: workspace?.name ?? '' })}</VariantTitle>}
      withClose={false}
      testId="disable-dialog"
    >
      {workspace && <Reason workspace={workspace} onClose={onClose} />}
    </Dialog>
  );
}

/** Those that have nothing to be stopped any more, or are the customer's own. */
const IS_OVER = ['stopped', 'creation failed', 'terminating'];

function Reason({ workspace, onClose }: { workspace: AdminClient; onClose(): void }) {
  const t = useT();
  const { data } = useQuery(q(api.adminClients.view, { id: workspace.id }, { quiet: true }));
  const unstoppable =
    data?.entity.machines.filter(
      ({ kind, canStop, status }) => kind === 'rented' && !canStop && !IS_OVER.includes(status),
    ) ?? [];
  const { field, submit, loading } = useCallForm(api.adminClients.disable, {
    initialValues: { reason: '', terminate: false },
    toInput: ({ reason, terminate }) => ({ id: workspace.id, reason, terminate }),
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
            'To its members it is gone at once. Nothing new starts in it, and its rented servers are stopped; their disks stay.',
          )}
        </div>
        <Textarea
          label={t('Reason')}
          name="reason"
          description={t('It is mailed to its owners and stands in its audit log.')}
          data-autofocus
          {...field('reason')}
        />
        {unstoppable.length > 0 && (
          <Checkbox
            label={t('Terminate {{count}} servers that cannot stop', { count: unstoppable.length })}
            description={t('Their data is lost. Left running, they go on costing.')}
            {...field('terminate', { type: 'checkbox' })}
          />
        )}
        <DialogButtons onCancel={onClose} submitLabel={t('Disable')} danger loading={loading} testId="disable-submit" />
      </Stack>
    </Form>
  );
}
