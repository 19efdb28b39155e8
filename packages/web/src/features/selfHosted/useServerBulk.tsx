import { api } from '@stagi/contract/api.ts';
import type { SelfHostedInstance } from '@stagi/contract/instances.ts';
import { IconTrash } from '@tabler/icons-react';
import { type ReactNode, useState } from 'react';
import { useBulkCall } from '../../api/useBulkCall.ts';
import { useT } from '../../i18n/i18n.ts';
import { ConfirmMany } from '../../ui/ConfirmMany.tsx';
import type { BulkAction } from '../../ui/DataTableBar.tsx';
import { serverVerdict } from './useServerActions.tsx';

/** Deletes the selected servers of a list. */
export function useServerBulk(): { actions: BulkAction<SelfHostedInstance>[]; dialog: ReactNode } {
  const t = useT();
  const [asked, setAsked] = useState<readonly SelfHostedInstance[]>([]);
  const [opened, setOpened] = useState(false);
  const remove = useBulkCall(api.selfHosted.delete, {
    touches: ['self-hosted-instance/', 'docker-container/'],
    said: (count) => t('{{count}} servers have been deleted', { count }),
  });

  async function confirm(): Promise<void> {
    await remove.run(asked.map(({ id }) => ({ id })));
    setOpened(false);
  }

  return {
    actions: [
      {
        label: t('Delete'),
        icon: <IconTrash size={14} />,
        danger: true,
        testId: 'bulk-delete',
        verdict: serverVerdict,
        onClick: (rows) => {
          setAsked(rows);
          setOpened(true);
        },
      },
    ],
    dialog: asked.length > 0 && (
      <ConfirmMany
        opened={opened}
        onClose={() => setOpened(false)}
        onConfirm={() => void confirm()}
        loading={remove.loading}
        title={t('Delete {{count}} servers?', { count: asked.length })}
        confirmLabel={t('Delete')}
        typeWord="delete"
        names={asked.map(({ title, slug }) => `${title} (${slug})`)}
      >
        {t('Our containers are removed from them and their daemons lose their keys. Everything else stays.')}
      </ConfirmMany>
    ),
  };
}
