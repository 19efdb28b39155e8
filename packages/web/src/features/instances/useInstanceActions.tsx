import { api } from '@stagi/contract/api.ts';
import { type Instance, instanceCan } from '@stagi/contract/instances.ts';
import { IconPlayerPlay, IconPlayerStop, IconRefresh, IconTrash } from '@tabler/icons-react';
import { type ReactNode, useState } from 'react';
import { invalidate, queryClient } from '../../api/query.ts';
import { useCall } from '../../api/useCall.ts';
import { useT } from '../../i18n/i18n.ts';
import type { Action } from '../../ui/actions.tsx';
import { ConfirmInstanceAction } from './ConfirmInstanceAction.tsx';

export type AskedAction = 'stop' | 'reboot' | 'terminate';

export interface InstanceActions {
  of(instance: Instance): Action[];
  /** To be drawn once on the page: the question before what interrupts or destroys. */
  dialog: ReactNode;
  loading: boolean;
}

/** Start, stop, reboot, terminate: for a row's menu and for the page's buttons alike. */
export function useInstanceActions(): InstanceActions {
  const t = useT();
  const [asked, setAsked] = useState<{ action: AskedAction; instance: Instance } | null>(null);
  const [opened, setOpened] = useState(false);
  const handlers = { onDone: ({ entity }: { entity: Instance }) => takeOver(entity) };
  const start = useCall(api.instances.start, handlers);
  const calls = {
    stop: useCall(api.instances.stop, handlers),
    reboot: useCall(api.instances.reboot, handlers),
    terminate: useCall(api.instances.terminate, handlers),
  };

  function takeOver(instance: Instance): void {
    queryClient.setQueryData([api.instances.view.path, { id: instance.id }], { isSuccess: true, entity: instance });
    void invalidate('instance-rented/', 'docker-container/', 'billing/');
    setOpened(false);
  }

  function ask(action: AskedAction, instance: Instance): void {
    setAsked({ action, instance });
    setOpened(true);
  }

  return {
    of: (instance) => [
      {
        label: t('Start'),
        icon: <IconPlayerPlay size={16} />,
        verdict: instanceCan.start(instance),
        testId: 'action-start',
        onClick: () => void start.run({ id: instance.id }),
      },
      {
        label: t('Stop'),
        icon: <IconPlayerStop size={16} />,
        verdict: instanceCan.stop(instance),
        testId: 'action-stop',
        onClick: () => ask('stop', instance),
      },
      {
        label: t('Reboot'),
        icon: <IconRefresh size={16} />,
        verdict: instanceCan.reboot(instance),
        testId: 'action-reboot',
        onClick: () => ask('reboot', instance),
      },
      {
        label: t('Terminate'),
        icon: <IconTrash size={16} />,
        danger: true,
        verdict: instanceCan.terminate(instance),
        testId: 'action-terminate',
        onClick: () => ask('terminate', instance),
      },
    ],
    dialog: asked && (
      <ConfirmInstanceAction
        action={asked.action}
        instance={asked.instance}
        opened={opened}
        loading={calls[asked.action].loading}
        onClose={() => setOpened(false)}
        onConfirm={() => void calls[asked.action].run({ id: asked.instance.id })}
      />
    ),
    loading: start.loading,
  };
}
