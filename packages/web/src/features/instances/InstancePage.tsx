import { api } from '@stagi/contract/api.ts';
import { type Instance, RENTED_MOVES } from '@stagi/contract/instances.ts';
import { useQuery } from '@tanstack/react-query';
import { NavLink, useParams } from 'react-router';
import { errorText } from '../../api/messages.ts';
import { q } from '../../api/query.ts';
import { useT } from '../../i18n/i18n.ts';
import { useCrumb } from '../../layouts/crumb.tsx';
import { NotFound } from '../../layouts/NotFound.tsx';
import type { ServerContainersSlot, SshKeyDialogSlot } from '../../layouts/slots.ts';
import { useRouteId } from '../../layouts/useRouteId.ts';
import { paths } from '../../paths.ts';
import { ErrorState } from '../../ui/ErrorState.tsx';
import { LinkTabs } from '../../ui/LinkTabs.tsx';
import { DetailSkeleton } from '../../ui/Skeletons.tsx';
import { InstanceAccess } from './InstanceAccess.tsx';
import { InstanceActivities } from './InstanceActivities.tsx';
import { InstanceHeader } from './InstanceHeader.tsx';
import { InstanceOverview } from './InstanceOverview.tsx';

const REFETCH_MS = 10_000;
const REFETCH_IN_TRANSITION_MS = 2_000;

interface Props {
  ServerContainers: ServerContainersSlot;
  SshKeyDialog: SshKeyDialogSlot;
}

export function InstancePage(pieces: Props) {
  const id = useRouteId();
  const { data, error, isFetching, refetch } = useQuery({
    ...q(api.instances.view, { id }),
    refetchInterval: ({ state }) => (inTransition(state.data?.entity) ? REFETCH_IN_TRANSITION_MS : REFETCH_MS),
  });
  useCrumb(data?.entity.title);
  if (data) return <Loaded instance={data.entity} {...pieces} />;
  if (error) return <ErrorState message={errorText(error)} onRetry={() => void refetch()} retrying={isFetching} />;
  return <DetailSkeleton />;
}

function Loaded({ instance, ServerContainers, SshKeyDialog }: Props & { instance: Instance }) {
  const t = useT();
  const { tab = 'overview' } = useParams();
  const { id } = instance;
  const shown = body();
  if (shown === null) return <NotFound />;
  return (
    <>
      <InstanceHeader instance={instance} />
      <LinkTabs
        label={t('Instance')}
        link={NavLink}
        tabs={[
          { label: t('Overview'), to: paths.instance(id), end: true },
          { label: t('Containers'), to: paths.instance(id, 'containers'), count: instance.containerCount },
          { label: t('Activities'), to: paths.instance(id, 'activities') },
          { label: t('Access'), to: paths.instance(id, 'access') },
        ]}
      />
      {shown}
    </>
  );

  function body() {
    switch (tab) {
      case 'overview':
        return <InstanceOverview instance={instance} />;
      case 'containers':
        return <ServerContainers server={instance} />;
      case 'activities':
        return <InstanceActivities id={id} />;
      case 'access':
        return <InstanceAccess instance={instance} SshKeyDialog={SshKeyDialog} />;
      default:
        return null;
    }
  }
}

/** Whether something is about to happen to it by itself. */
function inTransition(instance: Instance | undefined): boolean {
  return instance !== undefined && instance.statusDeadline !== null && RENTED_MOVES[instance.status].length > 0;
}
