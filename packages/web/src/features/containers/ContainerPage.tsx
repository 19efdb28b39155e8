import { Anchor } from '@mantine/core';
import { api } from '@stagi/contract/api.ts';
import type { Container } from '@stagi/contract/containers.ts';
import { useQuery } from '@tanstack/react-query';
import { Link, NavLink, useNavigate, useParams } from 'react-router';
import { errorText } from '../../api/messages.ts';
import { q } from '../../api/query.ts';
import { useT } from '../../i18n/i18n.ts';
import { useCrumb } from '../../layouts/crumb.tsx';
import { NotFound } from '../../layouts/NotFound.tsx';
import { useRouteId } from '../../layouts/useRouteId.ts';
import { paths } from '../../paths.ts';
import { ActionButton } from '../../ui/actions.tsx';
import { ErrorState } from '../../ui/ErrorState.tsx';
import { Evidence } from '../../ui/Evidence.tsx';
import { LinkTabs } from '../../ui/LinkTabs.tsx';
import { PageHeader } from '../../ui/PageHeader.tsx';
import { DetailSkeleton } from '../../ui/Skeletons.tsx';
import { StatusBadge } from '../../ui/StatusBadge.tsx';
import { ContainerOverview } from './ContainerOverview.tsx';
import { ContainerLogs } from './logs/ContainerLogs.tsx';
import { serverPath } from './server.ts';
import { useContainerActions } from './useContainerActions.tsx';

const REFETCH_MS = 10_000;
const REFETCH_IN_TRANSITION_MS = 1_500;
const PASSING = ['creating', 'starting', 'stopping', 'rebooting', 'terminating'];

export function ContainerPage() {
  const id = useRouteId();
  const { data, error, isFetching, refetch } = useQuery({
    ...q(api.containers.view, { id }),
    refetchInterval: ({ state }) =>
      PASSING.includes(state.data?.entity.status ?? '') ? REFETCH_IN_TRANSITION_MS : REFETCH_MS,
  });
  useCrumb(data?.entity.title);
  if (data) return <Loaded container={data.entity} />;
  if (error) return <ErrorState message={errorText(error)} onRetry={() => void refetch()} retrying={isFetching} />;
  return <DetailSkeleton />;
}

function Loaded({ container }: { container: Container }) {
  const t = useT();
  const navigate = useNavigate();
  const { tab = 'overview' } = useParams();
  const { id, instance, status } = container;
  const actions = useContainerActions({ onDeleted: () => void navigate(paths.containers()) });
  if (tab !== 'overview' && tab !== 'logs') return <NotFound />;
  return (
    <>
      <PageHeader
        title={container.title}
        slug={container.slug}
        status={
          <span data-testid="container-status">
            <StatusBadge status={status} prominent />
          </span>
        }
        actions={actions.of(container).map(({ label, danger, ...action }) => (
          <ActionButton
            key={label}
            {...action}
            tone={danger ? 'danger' : 'default'}
            loading={actions.running === action.testId}
          >
            {label}
          </ActionButton>
        ))}
      >
        {t('on')}{' '}
        <Anchor component={Link} to={serverPath(instance)} fz="inherit" underline="always">
          {instance.title}
        </Anchor>
        {' · '}
        <Evidence of={container} />
        {container.exitCode !== null && container.statusReason === null && status !== 'running' && (
          <>
            {' · '}
            {t('exit code')} <span className="mono">{container.exitCode}</span>
          </>
        )}
      </PageHeader>
      <LinkTabs
        label={t('Container')}
        link={NavLink}
        tabs={[
          { label: t('Overview'), to: paths.container(id), end: true },
          { label: t('Logs'), to: paths.container(id, 'logs') },
        ]}
      />
      {tab === 'overview' ? (
        <ContainerOverview container={container} />
      ) : (
        <ContainerLogs key={id} container={container} />
      )}
      {actions.dialog}
    </>
  );
}
