import { api } from '@stagi/contract/api.ts';
import { type Instance, instanceCan } from '@stagi/contract/instances.ts';
import { IconPlayerPlay, IconPlayerStop, IconRefresh, IconTrash } from '@tabler/icons-react';
import { type ReactNode, useState } from 'react';
import { useBulkCall } from '../../api/useBulkCall.ts';
import { useT } from '../../i18n/i18n.ts';
import { ConfirmMany } from '../../ui/ConfirmMany.tsx';
import type { BulkAction } from '../../ui/DataTableBar.tsx';

type Asked = 'stop' | 'reboot' | 'terminate';
const TOUCHES = ['instance-rented/', 'docker-container/', 'billing/'];

/** Start, stop, reboot, terminate for the selected instances of a list. */
export function useInstanceBulk(): { actions: BulkAction<Instance>[]; dialog: ReactNode } {
  const t = useT();
  const [asked, setAsked] = useState<{ what: Asked; rows: readonly Instance[] } | null>(null);
  const [opened, setOpened] = useState(false);
  const calls = {
    start: useBulkCall(api.instances.start, {
      touches: TOUCHES,
      said: (count) => t('{{count}} servers are starting', { count }),
    }),
    stop: useBulkCall(api.instances.stop, {
      touches: TOUCHES,
      said: (count) => t('{{count}} servers are stopping', { count }),
    }),
    reboot: useBulkCall(api.instances.reboot, {
      touches: TOUCHES,
      said: (count) => t('{{count}} servers are rebooting', { count }),
    }),
    terminate: useBulkCall(api.instances.terminate, {
      touches: TOUCHES,
      said: (count) => t('{{count}} servers are being terminated', { count }),
    }),
  };

  const ask = (what: Asked) => (rows: readonly Instance[]) => {
    setAsked({ what, rows });
    setOpened(true);
  };

  async function confirm(): Promise<void> {
    if (!asked) return;
    await calls[asked.what].run(asked.rows.map(({ id }) => ({ id })));
    setOpened(false);
  }

  return {
    actions: [
      {
        label: t('Start'),
        icon: <IconPlayerPlay size={14} />,
        testId: 'bulk-start',
        verdict: instanceCan.start,
        onClick: (rows) => void calls.start.run(rows.map(({ id }) => ({ id }))),
      },
      {
        label: t('Stop'),
        icon: <IconPlayerStop size={14} />,
        testId: 'bulk-stop',
        verdict: instanceCan.stop,
        onClick: ask('stop'),
      },
      {
        label: t('Reboot'),
        icon: <IconRefresh size={14} />,
        testId: 'bulk-reboot',
        verdict: instanceCan.reboot,
        onClick: ask('reboot'),
      },
      {
        label: t('Terminate'),
        icon: <IconTrash size={14} />,
        danger: true,
        testId: 'bulk-terminate',
        verdict: instanceCan.terminate,
        onClick: ask('terminate'),
      },
    ],
    dialog: asked && (
      <ConfirmMany
        {...wordsOf(asked.what)}
        opened={opened}
        onClose={() => setOpened(false)}
        onConfirm={() => void confirm()}
        loading={calls[asked.what].loading}
        names={asked.rows.map(({ title, slug }) => `${title} (${slug})`)}
      />
    ),
  };

  function wordsOf(what: Asked) {
    const count = asked?.rows.length ?? 0;
    switch (what) {
      case 'stop':
        return {
          tone: 'primary' as const,
          title: t('Stop {{count}} servers?', { count }),
          confirmLabel: t('Stop'),
          children: t('Their disks are kept; their containers are interrupted.'),
        };
      case 'reboot':
        return {
          tone: 'primary' as const,
          title: t('Reboot {{count}} servers?', { count }),
          confirmLabel: t('Reboot'),
          children: t('Disks and addresses stay as they are; their containers are interrupted.'),
        };
      case 'terminate':
        return {
          title: t('Terminate {{count}} servers?', { count }),
          confirmLabel: t('Terminate'),
          typeWord: 'terminate',
          children: t('They go back to the provider with everything on their disks. This cannot be undone.'),
        };
    }
  }
}
