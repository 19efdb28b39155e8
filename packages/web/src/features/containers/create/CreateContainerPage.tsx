import { Anchor } from '@mantine/core';
import { api } from '@stagi/contract/api.ts';
import { containerCan } from '@stagi/contract/containerRules.ts';
import { IconServerOff } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { Link, useSearchParams } from 'react-router';
import { errorText } from '../../../api/messages.ts';
import { q } from '../../../api/query.ts';
import { useServers } from '../../../api/useServers.ts';
import { useT } from '../../../i18n/i18n.ts';
import classes from '../../../launchForm/LaunchForm.module.css';
import { idIn, paths } from '../../../paths.ts';
import { Button } from '../../../ui/Button.tsx';
import { EmptyState } from '../../../ui/EmptyState.tsx';
import { ErrorState } from '../../../ui/ErrorState.tsx';
import { Note } from '../../../ui/Note.tsx';
import { PageHeader } from '../../../ui/PageHeader.tsx';
import { FormSkeleton } from '../../../ui/Skeletons.tsx';
import { NOT_MINE, useMayManage } from '../useContainerActions.tsx';
import { CreateContainerForm } from './CreateContainerForm.tsx';

/** The form of a new container; with `?clone=ID` filled in with the values of that one. */
export function CreateContainerPage() {
  const t = useT();
  const [params] = useSearchParams();
  const original = idIn(params.get('clone'));
  return original !== null ? (
    <>
      <PageHeader title={t('Clone a container')}>{t('It starts as soon as its image is on the server.')}</PageHeader>
      <Cloning id={original} />
    </>
  ) : (
    <>
      <PageHeader title={t('Create a container')}>{t('It starts as soon as its image is on the server.')}</PageHeader>
      <Creating wanted={params.get('server')} wantedProject={params.get('project') ?? ''} />
    </>
  );
}

function Cloning({ id }: { id: number }) {
  const t = useT();
  const { servers, error: serversError, retry } = useServers();
  const mayManage = useMayManage();
  // The form begins with what the container is now, not with what was cached.
  const view = useQuery({
    ...q(api.containers.view, { id }, { quiet: true }),
    refetchOnMount: 'always',
    refetchOnWindowFocus: false,
  });
  const original = view.isFetchedAfterMount ? view.data?.entity : undefined;
  const error = view.error ? errorText(view.error) : serversError;
  if (error && !(original && servers)) {
    return <ErrorState message={error} onRetry={() => (view.error ? void view.refetch() : retry())} />;
  }
  if (!original || !servers) return <FormSkeleton />;
  const verdict = mayManage(original) ? containerCan.clone(original) : { allowed: false as const, reason: NOT_MINE };
  return (
    <div className={classes.page}>
      <div className={classes.note}>
        {verdict.allowed ? (
          <Note>
            {t(
              'Filled in from “{{title}}”. Values of its variables are taken over unless you enter others; files are not.',
              {
                title: original.title,
              },
            )}
          </Note>
        ) : (
          <Note
            tone="warn"
            title={t(verdict.reason)}
            action={
              <Button color="gray" size="xs" component={Link} to={paths.container(id)}>
                {t('Open the container')}
              </Button>
            }
          />
        )}
      </div>
      {verdict.allowed && <CreateContainerForm servers={servers} wanted={null} original={original} />}
    </div>
  );
}

function Creating({ wanted, wantedProject }: { wanted: string | null; wantedProject: string }) {
  const t = useT();
  const { servers, error, retry } = useServers();
  if (error && !servers) return <ErrorState message={error} onRetry={retry} />;
  if (!servers) return <FormSkeleton />;
  if (servers.length === 0) {
    return (
      <EmptyState
        icon={<IconServerOff size={20} />}
        title={t('A container needs a server')}
        action={
          <Button component={Link} to={paths.marketplace()}>
            {t('Rent a server')}
          </Button>
        }
      >
        {t('Rent one, ready in about 2 minutes, or')}{' '}
        <Anchor component={Link} to={paths.joinServer()} fz="inherit" underline="always">
          {t('attach one of your own')}
        </Anchor>
        .
      </EmptyState>
    );
  }
  return (
    <div className={classes.page}>
      <CreateContainerForm servers={servers} wanted={wanted} wantedProject={wantedProject} />
    </div>
  );
}
