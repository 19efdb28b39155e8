import { api } from '@stagi/contract/api.ts';
import { type SelfHostedInstance, SelfHostedStatus } from '@stagi/contract/instances.ts';
import type { ServerContainersSlot } from '../../featureSlots.ts';
import { useT } from '../../i18n/i18n.ts';
import { DetailPage, DetailTabs } from '../../layouts/DetailPage.tsx';
import { LazyMetrics } from '../../metrics/LazyMetrics.tsx';
import { paths } from '../../paths.ts';
import { LazyTerminal } from '../../terminal/LazyTerminal.tsx';
import { ActivityList } from './ActivityList.tsx';
import { SelfHostedOverview } from './selfHosted/SelfHostedOverview.tsx';
import { useSelfHostedActions } from './selfHosted/useSelfHostedActions.tsx';
import { useCreateContainer } from './useCreateContainer.tsx';

const REFETCH_MS = 10_000;
const REFETCH_WHILE_AWAITED_MS = 3_000;

interface Props {
  ServerContainers: ServerContainersSlot;
  ServerImages: ServerContainersSlot;
}

export function SelfHostedInstancePage(slots: Props) {
  return (
    <DetailPage
      view={api.selfHosted.view}
      everyMs={(server) => (server?.status === 'awaiting setup' ? REFETCH_WHILE_AWAITED_MS : REFETCH_MS)}
    >
      {(server) => <SelfHosted server={server} {...slots} />}
    </DetailPage>
  );
}

function SelfHosted({ server, ServerContainers, ServerImages }: Props & { server: SelfHostedInstance }) {
  const t = useT();
  const actions = useSelfHostedActions();
  const createContainer = useCreateContainer();
  const { id } = server;
  return (
    <>
      <DetailTabs
        entity={server}
        statusTestId="instance-status"
        actions={[createContainer(server), ...actions.of(server)]}
        label={t('Server')}
        tabs={[
          {
            name: 'overview',
            label: t('Overview'),
            to: paths.selfInstance(id),
            end: true,
            body: <SelfHostedOverview server={server} />,
          },
          {
            name: 'containers',
            label: t('Containers'),
            to: paths.selfInstance(id, 'containers'),
            count: server.containerCount,
            body: <ServerContainers server={server} />,
          },
          {
            name: 'images',
            label: t('Images'),
            to: paths.selfInstance(id, 'images'),
            body: <ServerImages server={server} />,
          },
          {
            name: 'terminal',
            label: t('Terminal'),
            to: paths.selfInstance(id, 'terminal'),
            body: <LazyTerminal place={{ type: 'self-hosted-instance', id }} refusal={server.terminalRefusal} />,
          },
          {
            name: 'metrics',
            label: t('Metrics'),
            to: paths.selfInstance(id, 'metrics'),
            body: (
              <LazyMetrics
                key={id}
                of={api.metrics.selfHosted}
                id={id}
                noSamples={t('A server is measured while its agent is connected.')}
              />
            ),
          },
          {
            name: 'activities',
            label: t('Activities'),
            to: paths.selfInstance(id, 'activities'),
            body: <ActivityList of={api.selfHosted.activities} id={id} statuses={SelfHostedStatus.options} />,
          },
        ]}
      />
      {actions.dialog}
    </>
  );
}
