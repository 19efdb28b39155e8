import type { Instance } from '@stagi/contract/instances.ts';
import { IconPencil } from '@tabler/icons-react';
import { useState } from 'react';
import { useT } from '../../i18n/i18n.ts';
import { ActionButton } from '../../ui/actions.tsx';
import { Evidence } from '../../ui/Evidence.tsx';
import { IconButton } from '../../ui/IconButton.tsx';
import { PageHeader } from '../../ui/PageHeader.tsx';
import { StatusBadge } from '../../ui/StatusBadge.tsx';
import { RenameInstance } from './RenameInstance.tsx';
import { useInstanceActions } from './useInstanceActions.tsx';

export function InstanceHeader({ instance }: { instance: Instance }) {
  const t = useT();
  const actions = useInstanceActions();
  const [renaming, setRenaming] = useState(false);
  return (
    <>
      <PageHeader
        title={instance.title}
        slug={instance.slug}
        status={
          <>
            <IconButton size="xxxs" label={t('Rename')} data-testid="action-rename" onClick={() => setRenaming(true)}>
              <IconPencil size={14} />
            </IconButton>
            <span data-testid="instance-status">
              <StatusBadge status={instance.status} prominent />
            </span>
          </>
        }
        actions={actions.of(instance).map(({ label, danger, ...action }) => (
          <ActionButton
            key={label}
            {...action}
            tone={danger ? 'danger' : 'default'}
            loading={action.testId === 'action-start' && actions.loading}
          >
            {label}
          </ActionButton>
        ))}
      >
        <Evidence of={instance} />
      </PageHeader>
      <RenameInstance instance={instance} opened={renaming} onClose={() => setRenaming(false)} />
      {actions.dialog}
    </>
  );
}
