import { api } from '@stagi/contract/api.ts';
import { containerCan, isToRecreate } from '@stagi/contract/containerRules.ts';
import type { Container } from '@stagi/contract/containers.ts';
import { useQuery } from '@tanstack/react-query';
import { Link } from 'react-router';
import { errorText } from '../../../api/messages.ts';
import { q } from '../../../api/query.ts';
import { useServers } from '../../../api/useServers.ts';
import { useT } from '../../../i18n/i18n.ts';
import classes from '../../../launchForm/LaunchForm.module.css';
import { usePageTitle } from '../../../navigation/pageTitle.tsx';
import { useRouteId } from '../../../navigation/useRouteId.ts';
import { paths } from '../../../paths.ts';
import { Button } from '../../../ui/Button.tsx';
import { ErrorState } from '../../../ui/ErrorState.tsx';
import { Note } from '../../../ui/Note.tsx';
import { PageHeader } from '../../../ui/PageHeader.tsx';
import { FormSkeleton } from '../../../ui/Skeletons.tsx';
import { KeptAndLost } from '../KeptAndLost.tsx';
import { NOT_MINE, useMayManage } from '../useContainerActions.tsx';
import { EditContainerForm } from './EditContainerForm.tsx';

/** The form of a container that exists, filled in. */
export function EditContainerPage() {
  const t = useT();
  const id = useRouteId();
  const { servers, error: serversError, retry } = useServers();
  // The form begins with what the container is now, not with what was cached.
  const view = useQuery({
    ...q(api.containers.view, { id }, { quiet: true }),
    refetchOnMount: 'always',
    refetchOnWindowFocus: false,
  });
  const container = view.isFetchedAfterMount ? view.data?.entity : undefined;
  usePageTitle(container && t('Edit “{{title}}”', { title: container.title }));
  const error = view.error ? errorText(view.error) : serversError;
  if (error && !(container && servers)) {
    return <ErrorState message={error} onRetry={() => (view.error ? void view.refetch() : retry())} />;
  }
  if (!container || !servers) return <FormSkeleton />;
  return (
    <>
      <PageHeader title={t('Edit “{{title}}”', { title: container.title })} slug={container.slug} />
      <div className={classes.page}>
        <Editing container={container} servers={servers} />
      </div>
    </>
  );
}

function Editing({
  container,
  servers,
}: {
  container: Container;
  servers: NonNullable<ReturnType<typeof useServers>['servers']>;
}) {
  const t = useT();
  const mayManage = useMayManage()(container);
  const verdict = mayManage ? containerCan.edit(container) : { allowed: false as const, reason: NOT_MINE };
  if (!verdict.allowed) {
    return (
      <Note
        tone="warn"
        title={t(verdict.reason)}
        action={
          <Button color="gray" size="xs" component={Link} to={paths.container(container.id)}>
            {t('Open the container')}
          </Button>
        }
      />
    );
  }
  return (
    <>
      <div className={classes.note}>
        <WhatHappens container={container} />
      </div>
      <EditContainerForm container={container} server={servers.find(({ id }) => id === container.instance.id)} />
    </>
  );
}

/** What is kept and what is lost, before anything is changed. */
function WhatHappens({ container }: { container: Container }) {
  const t = useT();
  const isCreated = container.status !== 'creating' && container.status !== 'creation failed';
  if (!isCreated) return <Note title={t('The container does not exist yet: it is created as you save it.')} />;
  return (
    <Note
      tone="warn"
      title={
        isToRecreate(container)
          ? t('Saving recreates the container, even if nothing is changed')
          : t('Any change except to its name or project recreates the container')
      }
    >
      <KeptAndLost container={container} />
    </Note>
  );
}
