import { api } from '@stagi/contract/api.ts';
import { type SelfHostedInstance, SelfHostedStatus } from '@stagi/contract/instances.ts';
import { useQuery } from '@tanstack/react-query';
import { NavLink, useParams } from 'react-router';
import { errorText } from '../../api/messages.ts';
import { q } from '../../api/query.ts';
import { useT } from '../../i18n/i18n.ts';
import { ActivityList } from '../../layouts/ActivityList.tsx';
import { useCrumb } from '../../layouts/crumb.tsx';
import { NotFound } from '../../layouts/NotFound.tsx';
import type { ServerContainersSlot } from '../../layouts/slots.ts';
import { useRouteId } from '../../layouts/useRouteId.ts';
import { paths } from '../../paths.ts';
import { ActionButton } from '../../ui/actions.tsx';
import { ErrorState } from '../../ui/ErrorState.tsx';
import { Evidence } from '../../ui/Evidence.tsx';
import { LinkTabs } from '../../ui/LinkTabs.tsx';
import { PageHeader } from '../../ui/PageHeader.tsx';
import { DetailSkeleton } from '../../ui/Skeletons.tsx';
import { StatusBadge } from '../../ui/StatusBadge.tsx';
import { ServerOverview } from './ServerOverview.tsx';
import { useServerActions } from './useServerActions.tsx';

const REFETCH_MS = 10_000;
const REFETCH_WHILE_AWAITED_MS = 3_000;

export function SelfHostedInstancePage({ ServerContainers }: { ServerContainers: ServerContainersSlot }) {
  const id = useRouteId();
  const { data, error, isFetching, refetch } = useQuery({
    ...q(api.selfHosted.view, { id }),
    refetchInterval: ({ state }) =>
      state.data?.entity.status === 'awaiting setup' ? REFETCH_WHILE_AWAITED_MS : REFETCH_MS,
  });
  useCrumb(data?.entity.title);
  if (data) return <Loaded server={data.entity} ServerContainers={ServerContainers} />;
  if (error) return <ErrorState message={errorText(error)} onRetry={() => void refetch()} retrying={isFetching} />;
  return <DetailSkeleton />;
}

function Loaded({ server, ServerContainers }: { server: SelfHostedInstance; ServerContainers: ServerContainersSlot }) {
  const t = useT();
  const { tab = 'overview' } = useParams();
  const actions = useServerActions();
  const { id } = server;
  const shown = body();
  if (shown === null) return <NotFound />;
  return (
    <>
      <PageHeader
        title={server.title}
        slug={server.slug}
        status={
          <span data-testid="instance-status">
            <StatusBadge status={server.status} prominent />
          </span>
        }
        actions={actions.of(server).map(({ label, danger, ...action }) => (
          <ActionButton key={label} {...action} tone={danger ? 'danger' : 'default'}>
            {label}
          </ActionButton>
        ))}
      >
        <Evidence of={server} />
      </PageHeader>
      <LinkTabs
        label={t('Server')}
        link={NavLink}
        tabs={[
          { label: t('Overview'), to: paths.selfInstance(id), end: true },
          { label: t('Containers'), to: paths.selfInstance(id, 'containers'), count: server.containerCount },
          { label: t('Activities'), to: paths.selfInstance(id, 'activities') },
        ]}
      />
      {shown}
      {actions.dialogs}
    </>
  );

  function body() {
    switch (tab) {
      case 'overview':
        return <ServerOverview server={server} />;
      case 'containers':
        return <ServerContainers server={server} />;
      case 'activities':
        return <ActivityList of={api.selfHosted.activities} id={id} statuses={SelfHostedStatus.options} />;
      default:
        return null;
    }
  }
}
