import type { AdminClient } from '@stagi/contract/adminClients.ts';
import { api } from '@stagi/contract/api.ts';
import { useQuery } from '@tanstack/react-query';
import { q } from '../../api/query.ts';
import { useCallForm } from '../../api/useCallForm.ts';
import { useT } from '../../i18n/i18n.ts';
import { Checkbox } from '../../ui/form/Checkbox.tsx';
import { DisableDialog, ReasonForm } from './DisableDialog.tsx';
import { useDisabled } from './useDisabled.ts';

interface Props {
  workspace: AdminClient | null;
  onClose(): void;
}

export function DisableWorkspace({ workspace, onClose }: Props) {
  return (
    <DisableDialog of={workspace} onClose={onClose}>
      {(one) => <Reason workspace={one} onClose={onClose} />}
    </DisableDialog>
  );
}

/** Statuses in which a server needs no stopping. */
const IS_OVER = ['stopped', 'creation failed', 'terminating'];

function Reason({ workspace, onClose }: { workspace: AdminClient; onClose(): void }) {
  const t = useT();
  const onDone = useDisabled(onClose);
  const { data } = useQuery(q(api.adminClients.view, { id: workspace.id }, { quiet: true }));
  const unstoppable =
    data?.entity.machines.filter(
      ({ kind, canStop, status }) => kind === 'rented' && !canStop && !IS_OVER.includes(status),
    ) ?? [];
  const form = useCallForm(api.adminClients.disable, {
    initialValues: { reason: '', terminate: false },
    toInput: ({ reason, terminate }) => ({ id: workspace.id, reason, terminate }),
    onDone,
  });
  return (
    <ReasonForm
      {...form}
      onClose={onClose}
      lead={t(
        'Its members lose access at once. Nothing new starts in it, and its rented servers are stopped; their disks are kept.',
      )}
      readers={t('It is emailed to its members and recorded in its audit log.')}
    >
      {unstoppable.length > 0 && (
        <Checkbox
          label={t('Terminate {{count}} servers that cannot stop', { count: unstoppable.length })}
          description={t('Their data is lost. If left running, they keep costing money.')}
          {...form.field('terminate', { type: 'checkbox' })}
        />
      )}
    </ReasonForm>
  );
}
