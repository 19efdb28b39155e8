import { api } from '@stagi/contract/api.ts';
import { type Instance, RENTED_MOVES, RentedStatus } from '@stagi/contract/instances.ts';
import { IconPencil } from '@tabler/icons-react';
import { useState } from 'react';
import type { ServerContainersSlot, SshKeyDialogSlot } from '../../featureSlots.ts';
import { useT } from '../../i18n/i18n.ts';
import { DetailPage, DetailTabs } from '../../layouts/DetailPage.tsx';
import { LazyMetrics } from '../../metrics/LazyMetrics.tsx';
import { paths } from '../../paths.ts';
import { LazyTerminal } from '../../terminal/LazyTerminal.tsx';
import { IconButton } from '../../ui/IconButton.tsx';
import { ActivityList } from './ActivityList.tsx';
import { RenameInstance } from './RenameInstance.tsx';
import { RentedAccess } from './rented/RentedAccess.tsx';
import { RentedOverview } from './rented/RentedOverview.tsx';
import { useRentedActions } from './rented/useRentedActions.tsx';
import { useCreateContainer } from './useCreateContainer.tsx';

const REFETCH_MS = 10_000;
const REFETCH_IN_TRANSITION_MS = 2_000;

interface Props {
  ServerContainers: ServerContainersSlot;
  ServerImages: ServerContainersSlot;
  SshKeyDialog: SshKeyDialogSlot;
}

/** A rented instance. */
export function InstancePage(slots: Props) {
  return (
    <DetailPage
      view={api.instances.view}
      everyMs={(instance) => (inTransition(instance) ? REFETCH_IN_TRANSITION_MS : REFETCH_MS)}
    >
      {(instance) => <Rented instance={instance} {...slots} />}
    </DetailPage>
  );
}

function Rented({ instance, ServerContainers, ServerImages, SshKeyDialog }: Props & { instance: Instance }) {
  const t = useT();
  const actions = useRentedActions();
  const createContainer = useCreateContainer();
  const [renaming, setRenaming] = useState(false);
  const { id } = instance;
  return (
    <>
      <DetailTabs
        entity={instance}
        statusTestId="instance-status"
        besideTitle={
          <IconButton size="xxxs" label={t('Rename')} data-testid="action-rename" onClick={() => setRenaming(true)}>
            <IconPencil size={14} />
          </IconButton>
        }
        actions={[createContainer(instance), ...actions.of(instance)]}
        label={t('Instance')}
        tabs={[
          {
            name: 'overview',
            label: t('Overview'),
            to: paths.instance(id),
            end: true,
            body: <RentedOverview instance={instance} />,
          },
          {
            name: 'containers',
            label: t('Containers'),
            to: paths.instance(id, 'containers'),
            count: instance.containerCount,
            body: <ServerContainers server={instance} />,
          },
          {
            name: 'images',
            label: t('Images'),
            to: paths.instance(id, 'images'),
            body: <ServerImages server={instance} />,
          },
          {
            name: 'terminal',
            label: t('Terminal'),
            to: paths.instance(id, 'terminal'),
            body: <LazyTerminal place={{ type: 'instance-rented', id }} refusal={instance.terminalRefusal} />,
          },
          {
            name: 'metrics',
            label: t('Metrics'),
            to: paths.instance(id, 'metrics'),
            body: (
              <LazyMetrics
                key={id}
                of={api.metrics.rented}
                id={id}
                noSamples={t('A server is measured while its agent is connected.')}
              />
            ),
          },
          {
            name: 'activities',
            label: t('Activities'),
            to: paths.instance(id, 'activities'),
            body: <ActivityList of={api.instances.activities} id={id} statuses={RentedStatus.options} />,
          },
          {
            name: 'access',
            label: t('Access'),
            to: paths.instance(id, 'access'),
            body: <RentedAccess instance={instance} SshKeyDialog={SshKeyDialog} />,
          },
        ]}
      />
      <RenameInstance
        edit={api.instances.edit}
        titled={renaming ? instance : null}
        onClose={() => setRenaming(false)}
      />
      {actions.dialog}
    </>
  );
}

/** Whether its status is going to change by itself. */
function inTransition(instance: Instance | undefined): boolean {
  return instance !== undefined && instance.statusDeadline !== null && RENTED_MOVES[instance.status].length > 0;
}
