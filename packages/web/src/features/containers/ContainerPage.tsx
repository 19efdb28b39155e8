import { Anchor, Skeleton } from '@mantine/core';
import { api } from '@stagi/contract/api.ts';
import type { Container } from '@stagi/contract/containers.ts';
import { Suspense, useEffect } from 'react';
import { Link, useNavigate, useParams } from 'react-router';
import { useT } from '../../i18n/i18n.ts';
import { DetailPage, DetailTabs } from '../../layouts/DetailPage.tsx';
import { lazyComponent } from '../../lazyChunks.ts';
import { LazyMetrics } from '../../metrics/LazyMetrics.tsx';
import { paths } from '../../paths.ts';
import { LazyTerminal } from '../../terminal/LazyTerminal.tsx';
import { CutText } from '../../ui/CutText.tsx';
import { FormSkeleton } from '../../ui/Skeletons.tsx';
import { whenIdle } from '../../ui/whenIdle.ts';
import { ContainerOverview } from './ContainerOverview.tsx';
import { withLoop } from './restarts.ts';
import { TaskMark } from './TaskMark.tsx';
import { NOT_MINE, useContainerActions, useMayManage } from './useContainerActions.tsx';

const REFETCH_MS = 10_000;
const REFETCH_IN_TRANSITION_MS = 1_500;
const IN_TRANSITION = ['creating', 'starting', 'stopping', 'rebooting', 'terminating'];

const loadLogs = async () => (await import('../../logs/LogView.tsx')).LogView;
/** Code of its own: a page of a container does not wait for it. */
const LogView = lazyComponent(loadLogs);
const EditContainerPage = lazyComponent(async () => (await import('./create/EditContainerPage.tsx')).EditContainerPage);

const FilesTab = lazyComponent(async () => (await import('./files/FilesTab.tsx')).FilesTab);

function isInTransition(container: Container | undefined): boolean {
  return container !== undefined && (IN_TRANSITION.includes(container.status) || container.pendingEdit !== null);
}

/** The page of a container, or the form that edits it. */
export function ContainerPage() {
  return useParams().tab === 'edit' ? (
    <Suspense fallback={<FormSkeleton />}>
      <EditContainerPage />
    </Suspense>
  ) : (
    <Details />
  );
}

function Details() {
  // The log's code comes along with the container's data, or in idle time.
  const isLog = useParams().tab === 'logs';
  useEffect(() => {
    if (isLog) loadLogs().catch((cause: unknown) => console.debug('Not fetched ahead', cause));
    else whenIdle(loadLogs);
  }, [isLog]);
  return (
    <DetailPage
      view={api.containers.view}
      everyMs={(container) => (isInTransition(container) ? REFETCH_IN_TRANSITION_MS : REFETCH_MS)}
    >
      {(container) => <Loaded container={container} />}
    </DetailPage>
  );
}

function Loaded({ container }: { container: Container }) {
  const t = useT();
  const navigate = useNavigate();
  const { id, instance, status, exitCode } = container;
  const mayManage = useMayManage();
  const actions = useContainerActions({ onDeleted: () => void navigate(paths.containers()) });
  return (
    <>
      <DetailTabs
        entity={withLoop(container)}
        statusTestId="container-status"
        besideTitle={container.task && <TaskMark task={container.task} />}
        actions={actions.of(container)}
        before={
          <>
            {t('on')}{' '}
            <Anchor component={Link} to={paths.server(instance, 'containers')} fz="inherit" underline="always">
              <CutText>{instance.title}</CutText>
            </Anchor>
            {' · '}
          </>
        }
        after={
          exitCode !== null &&
          container.statusReason === null &&
          status !== 'running' && (
            <>
              {' · '}
              {t('exit code')} <span className="mono">{exitCode}</span>
            </>
          )
        }
        label={t('Container')}
        tabs={[
          {
            name: 'overview',
            label: t('Overview'),
            to: paths.container(id),
            end: true,
            body: <ContainerOverview container={container} />,
          },
          {
            name: 'logs',
            label: t('Logs'),
            to: paths.container(id, 'logs'),
            body: (
              <Suspense fallback={<Skeleton height={240} />}>
                <LogView
                  key={id}
                  source={{ type: 'docker-container', id }}
                  fileName={container.slug}
                  noLines={
                    status === 'running'
                      ? t('Lines appear here the moment the container prints them.')
                      : t('Lines appear here once the container runs.')
                  }
                />
              </Suspense>
            ),
          },
          {
            name: 'terminal',
            label: t('Terminal'),
            to: paths.container(id, 'terminal'),
            body: (
              <LazyTerminal
                place={{ type: 'docker-container', id }}
                refusal={mayManage(container) ? container.terminalRefusal : NOT_MINE}
              />
            ),
          },
          // The run of a task has none: what it leaves is its output.
          ...(container.task
            ? []
            : [
                {
                  name: 'files',
                  label: t('Files'),
                  to: paths.container(id, 'files'),
                  body: (
                    <Suspense fallback={<Skeleton height={240} />}>
                      <FilesTab container={container} />
                    </Suspense>
                  ),
                },
              ]),
          {
            name: 'metrics',
            label: t('Metrics'),
            to: paths.container(id, 'metrics'),
            body: (
              <LazyMetrics
                key={id}
                of={api.metrics.container}
                id={id}
                logPath={paths.container(id, 'logs')}
                noSamples={t('A container is measured while it runs.')}
              />
            ),
          },
        ]}
      />
      {actions.dialog}
    </>
  );
}
