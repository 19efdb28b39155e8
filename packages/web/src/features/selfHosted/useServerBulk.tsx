import { api } from '@stagi/contract/api.ts';
import type { SelfHostedInstance } from '@stagi/contract/instances.ts';
import { IconTrash } from '@tabler/icons-react';
import type { ReactNode } from 'react';
import { useBulkCall } from '../../api/useBulkCall.ts';
import { useT } from '../../i18n/i18n.ts';
import { ConfirmMany } from '../../ui/ConfirmMany.tsx';
import type { BulkAction } from '../../ui/DataTableBar.tsx';
import { useAskedRows } from '../../ui/useAskedRows.ts';
import { serverVerdict } from './useServerActions.tsx';

/** Deletes the selected servers of a list. */
export function useServerBulk(): { actions: BulkAction<SelfHostedInstance>[]; dialog: ReactNode } {
  const t = useT();
  const asked = useAskedRows<SelfHostedInstance>();
  const remove = useBulkCall(api.selfHosted.delete, {
    touches: ['self-hosted-instance/', 'docker-container/'],
    said: (count) => t('{{count}} servers have been deleted', { count }),
  });

  async function confirm(): Promise<void> {
    await remove.run(asked.rows.map(({ id }) => ({ id })));
    asked.close();
  }

  return {
    actions: [
      {
        label: t('Delete'),
        icon: <IconTrash size={14} />,
        danger: true,
        testId: 'bulk-delete',
        verdict: serverVerdict,
        onClick: asked.ask,
      },
    ],
    dialog: asked.rows.length > 0 && (
      <ConfirmMany
        opened={asked.opened}
        onClose={asked.close}
        onConfirm={() => void confirm()}
        loading={remove.loading}
        title={t('Delete {{count}} servers?', { count: asked.rows.length })}
        confirmLabel={t('Delete')}
        typeWord="delete"
        names={asked.rows.map(({ title, slug }) => `${title} (${slug})`)}
      >
        {t('Our containers are removed from them and their daemons lose their keys. Everything else stays.')}
      </ConfirmMany>
    ),
  };
}
