import { api } from '@stagi/contract/api.ts';
import { type Container, containerCan } from '@stagi/contract/containers.ts';
import { IconPlayerPlay, IconPlayerStop, IconRefresh, IconTrash } from '@tabler/icons-react';
import { type ReactNode, useState } from 'react';
import { invalidate, queryClient } from '../../api/query.ts';
import { useCall } from '../../api/useCall.ts';
import { useMay } from '../../api/user.ts';
import { useT } from '../../i18n/i18n.ts';
import { text } from '../../i18n/text.ts';
import type { Action, Verdict } from '../../ui/actions.tsx';
import { ConfirmDialog } from '../../ui/dialogs/ConfirmDialog.tsx';

const NOT_MINE = text('Your role in this workspace does not include servers of this kind');

export interface ContainerActions {
  of(container: Container): Action[];
  /** What the person's role says of a container, besides what its status allows. */
  verdict(container: Container, rule: Verdict): Verdict;
  /** To be drawn once on the page: the question before deleting. */
  dialog: ReactNode;
  /** The action under way, by its test id. */
  running: string | null;
}

/** Start, stop, restart, delete: for a row's menu and for the page's buttons alike. */
export function useContainerActions({ onDeleted }: { onDeleted?(): void } = {}): ContainerActions {
  const t = useT();
  const may = { rented: useMay('INSTANCE_RENTED_MANAGEMENT'), 'self-hosted': useMay('SELFHOSTED_INSTANCE_MANAGEMENT') };
  const [asked, setAsked] = useState<Container | null>(null);
  const [opened, setOpened] = useState(false);
  const handlers = { onDone: ({ entity }: { entity: Container }) => takeOver(entity) };
  const start = useCall(api.containers.start, handlers);
  const stop = useCall(api.containers.stop, handlers);
  const restart = useCall(api.containers.restart, handlers);
  const remove = useCall(api.containers.delete, {
    onDone: () => {
      void readAgain();
      setOpened(false);
      onDeleted?.();
    },
  });

  function takeOver(container: Container): void {
    queryClient.setQueryData([api.containers.view.path, { id: container.id }], { isSuccess: true, entity: container });
    void readAgain();
  }

  const verdict = (container: Container, rule: Verdict): Verdict =>
    may[container.instance.kind] ? rule : { allowed: false, reason: NOT_MINE };

  return {
    verdict,
    of: (container) => [
      {
        label: t('Start'),
        icon: <IconPlayerPlay size={16} />,
        verdict: verdict(container, containerCan.start(container)),
        testId: 'action-start',
        onClick: () => void start.run({ id: container.id }),
      },
      {
        label: t('Stop'),
        icon: <IconPlayerStop size={16} />,
        verdict: verdict(container, containerCan.stop(container)),
        testId: 'action-stop',
        onClick: () => void stop.run({ id: container.id }),
      },
      {
        label: t('Restart'),
        icon: <IconRefresh size={16} />,
        verdict: verdict(container, containerCan.restart(container)),
        testId: 'action-restart',
        onClick: () => void restart.run({ id: container.id }),
      },
      {
        label: t('Delete'),
        icon: <IconTrash size={16} />,
        danger: true,
        verdict: verdict(container, containerCan.delete(container)),
        testId: 'action-delete',
        onClick: () => {
          setAsked(container);
          setOpened(true);
        },
      },
    ],
    dialog: asked && (
      <ConfirmDialog
        variant="error"
        opened={opened}
        onClose={() => setOpened(false)}
        onConfirm={() => void remove.run({ id: asked.id })}
        title={t('Delete “{{title}}”?', { title: asked.title })}
        typeSlug={asked.slug}
        confirmLabel={t('Delete')}
        loading={remove.loading}
        lost={[t('Every file that it wrote outside of its volumes')]}
      >
        {asked.directoryMappings.length > 0
          ? t('Its {{count}} volumes stay on the server. Its logs stay readable for a while.', {
              count: asked.directoryMappings.length,
            })
          : t('It has no volumes. Its logs stay readable for a while.')}
      </ConfirmDialog>
    ),
    running: start.loading ? 'action-start' : stop.loading ? 'action-stop' : restart.loading ? 'action-restart' : null,
  };
}

function readAgain(): Promise<void> {
  return invalidate('docker-container/', 'instance-rented/', 'self-hosted-instance/');
}
