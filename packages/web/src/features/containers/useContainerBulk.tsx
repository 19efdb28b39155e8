import { api } from '@stagi/contract/api.ts';
import { type Container, containerCan } from '@stagi/contract/containers.ts';
import { IconPlayerPlay, IconPlayerStop, IconRefresh, IconTrash } from '@tabler/icons-react';
import type { ReactNode } from 'react';
import { useBulkCall } from '../../api/useBulkCall.ts';
import { useT } from '../../i18n/i18n.ts';
import type { Verdict } from '../../ui/actions.tsx';
import { ConfirmMany } from '../../ui/ConfirmMany.tsx';
import type { BulkAction } from '../../ui/DataTableBar.tsx';
import { useAskedRows } from '../../ui/useAskedRows.ts';

const TOUCHES = ['docker-container/', 'instance-rented/', 'self-hosted-instance/'];

interface Props {
  /** What the person's role says of a container, besides what its status allows. */
  verdict(container: Container, rule: Verdict): Verdict;
}

/** Start, stop, restart, delete for the selected containers of a list. */
export function useContainerBulk({ verdict }: Props): { actions: BulkAction<Container>[]; dialog: ReactNode } {
  const t = useT();
  const asked = useAskedRows<Container>();
  const start = useBulkCall(api.containers.start, {
    touches: TOUCHES,
    said: (count) => t('{{count}} containers are starting', { count }),
  });
  const stop = useBulkCall(api.containers.stop, {
    touches: TOUCHES,
    said: (count) => t('{{count}} containers are stopping', { count }),
  });
  const restart = useBulkCall(api.containers.restart, {
    touches: TOUCHES,
    said: (count) => t('{{count}} containers are restarting', { count }),
  });
  const remove = useBulkCall(api.containers.delete, {
    touches: TOUCHES,
    said: (count) => t('{{count}} containers are being deleted', { count }),
  });
  const idsOf = (rows: readonly Container[]) => rows.map(({ id }) => ({ id }));

  async function confirm(): Promise<void> {
    await remove.run(idsOf(asked.rows));
    asked.close();
  }

  return {
    actions: [
      {
        label: t('Start'),
        icon: <IconPlayerPlay size={14} />,
        testId: 'bulk-start',
        verdict: (row) => verdict(row, containerCan.start(row)),
        onClick: (rows) => void start.run(idsOf(rows)),
      },
      {
        label: t('Stop'),
        icon: <IconPlayerStop size={14} />,
        testId: 'bulk-stop',
        verdict: (row) => verdict(row, containerCan.stop(row)),
        onClick: (rows) => void stop.run(idsOf(rows)),
      },
      {
        label: t('Restart'),
        icon: <IconRefresh size={14} />,
        testId: 'bulk-restart',
        verdict: (row) => verdict(row, containerCan.restart(row)),
        onClick: (rows) => void restart.run(idsOf(rows)),
      },
      {
        label: t('Delete'),
        icon: <IconTrash size={14} />,
        danger: true,
        testId: 'bulk-delete',
        verdict: (row) => verdict(row, containerCan.delete(row)),
        onClick: asked.ask,
      },
    ],
    dialog: asked.rows.length > 0 && (
      <ConfirmMany
        opened={asked.opened}
        onClose={asked.close}
        onConfirm={() => void confirm()}
        loading={remove.loading}
        title={t('Delete {{count}} containers?', { count: asked.rows.length })}
        confirmLabel={t('Delete')}
        typeWord="delete"
        names={asked.rows.map(({ title, slug }) => `${title} (${slug})`)}
      >
        {t('Every file that they wrote outside of their volumes is lost. Their logs stay readable for a while.')}
      </ConfirmMany>
    ),
  };
}
