import { Anchor, Stack } from '@mantine/core';
import { DEFAULT_SHM_MB } from '@stagi/contract/containerFields.ts';
import type { Container } from '@stagi/contract/containers.ts';
import { IconLock } from '@tabler/icons-react';
import { Link } from 'react-router';
import { useHasPermission } from '../../api/user.ts';
import { useT } from '../../i18n/i18n.ts';
import { personName } from '../../i18n/personName.ts';
import { paths } from '../../paths.ts';
import { CodeBlock } from '../../ui/CodeBlock.tsx';
import { FactList, FactPanels } from '../../ui/FactList.tsx';
import { formatBytes, formatNumber } from '../../ui/format.ts';
import { Note } from '../../ui/Note.tsx';
import { StatusBadge } from '../../ui/StatusBadge.tsx';
import { DateTime, TimeAgo } from '../../ui/Time.tsx';
import { ContainerPorts } from './ContainerPorts.tsx';
import classes from './Containers.module.css';
import { CreationState } from './CreationState.tsx';
import { PendingEdit } from './PendingEdit.tsx';
import { RestartLoop } from './RestartLoop.tsx';
import { RESTART_WORDS } from './restartWords.ts';
import { Unprotected } from './Unprotected.tsx';

export function ContainerOverview({ container }: { container: Container }) {
  const t = useT();
  const { instance, directoryMappings, envNames } = container;
  return (
    <Stack gap={16}>
      <CreationState container={container} />
      <RestartLoop container={container} />
      {container.pendingEdit && <PendingEdit container={container} edit={container.pendingEdit} />}
      {container.status === 'failed' && (
        <Note
          tone="bad"
          title={container.statusReason ? t(container.statusReason) : t('The container failed')}
          action={
            <Anchor component={Link} to={paths.container(container.id, 'logs')} fz="inherit">
              {t('See its last lines')}
            </Anchor>
          }
        />
      )}
      {container.command !== null && <CodeBlock title={t('Command')} code={container.command} wrap />}
      <Unprotected container={container} />
      <ContainerPorts container={container} />
      <FactPanels>
        <FactList
          title={t('Container')}
          facts={[
            { label: t('Image'), value: container.dockerImage, mono: true, copy: container.dockerImage },
            ...(container.command === null ? [{ label: t('Command'), value: t('the image’s own') }] : []),
            ...(container.entrypoint === null
              ? []
              : [{ label: t('Entry point'), value: container.entrypoint, mono: true }]),
            ...(container.user === null ? [] : [{ label: t('User'), value: container.user, mono: true }]),
            {
              label: t('Capabilities'),
              value: container.capabilities === 'docker' ? t('Docker’s default') : t('hardened'),
            },
            { label: t('CPU'), value: formatNumber(container.cpus), mono: true },
            {
              label: t('Memory'),
              value: container.memoryGb === null ? t('no limit') : `${formatNumber(container.memoryGb, 2)} GB`,
            },
            {
              label: t('GPU'),
              value: container.gpuIds.length === 0 ? null : container.gpuIds.map((id) => `#${id}`).join(', '),
              mono: true,
            },
            { label: t('Shared memory'), value: formatBytes((container.shmMb ?? DEFAULT_SHM_MB) * 2 ** 20) },
            { label: t('Restart', { context: 'policy' }), value: t(RESTART_WORDS[container.restartPolicy]) },
            // That of a run is shown with its task.
            ...(container.task
              ? []
              : [{ label: t('Time to stop'), value: t('{{seconds}} s', { seconds: container.stopGraceSeconds }) }]),
            ...(container.healthCheck
              ? [{ label: t('Health check'), value: container.healthCheck.command, mono: true }]
              : []),
          ]}
        />
        <FactList
          title={t('State')}
          facts={[
            {
              label: t('Server'),
              value: (
                <Anchor component={Link} to={paths.server(instance, 'containers')} fz="inherit">
                  {instance.title}
                </Anchor>
              ),
            },
            ...(container.project ? [{ label: t('Project'), value: <ProjectName of={container.project} /> }] : []),
            { label: t('Server status'), value: <StatusBadge status={instance.status} /> },
            ...(container.health ? [{ label: t('Health'), value: <StatusBadge status={container.health} /> }] : []),
            { label: t('Started'), value: container.startedAt && <DateTime at={container.startedAt} /> },
            // One that runs again tells of its last end at its restarts.
            ...(container.status === 'running'
              ? []
              : [
                  { label: t('Ended'), value: container.finishedAt && <DateTime at={container.finishedAt} /> },
                  {
                    label: t('Exit code'),
                    value: container.exitCode === null ? null : String(container.exitCode),
                    mono: true,
                  },
                ]),
            ...(container.restarts ? [{ label: t('Restarts'), value: <RestartCount of={container.restarts} /> }] : []),
            { label: t('Last report'), value: container.statusSeenAt && <TimeAgo at={container.statusSeenAt} /> },
            { label: t('Created by'), value: personName(t, container.createdBy) },
            { label: t('Created'), value: <DateTime at={container.createdAt} /> },
          ]}
        />
        {directoryMappings.length > 0 && (
          <FactList
            title={t('Volumes')}
            facts={directoryMappings.map(({ host, container: inside }) => ({
              label: inside,
              value: t('{{path}} on the server', { path: host }),
              mono: true,
            }))}
          />
        )}
        {envNames.length > 0 && (
          <FactList
            title={t('Environment')}
            facts={envNames.map((name) => ({
              label: name,
              value: (
                <span title={t('Kept encrypted, not shown again')}>
                  ••••••
                  {container.secretEnvNames.includes(name) && (
                    <IconLock
                      size={14}
                      className={classes.secret}
                      role="img"
                      aria-label={t('Secret: masked in logs')}
                    />
                  )}
                </span>
              ),
            }))}
          />
        )}
      </FactPanels>
    </Stack>
  );
}

function RestartCount({ of: { count, exitCode } }: { of: NonNullable<Container['restarts']> }) {
  const t = useT();
  return exitCode === null
    ? formatNumber(count)
    : t('{{restarts}}, the last after exit code {{code}}', { restarts: formatNumber(count), code: exitCode });
}

/** A link where the person's role opens projects. */
function ProjectName({ of: { id, title } }: { of: NonNullable<Container['project']> }) {
  const mayOpen = useHasPermission('PROJECT_MANAGEMENT');
  return mayOpen ? (
    <Anchor component={Link} to={paths.project(id)} fz="inherit">
      {title}
    </Anchor>
  ) : (
    title
  );
}
