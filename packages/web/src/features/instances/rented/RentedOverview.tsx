import { Skeleton, Stack } from '@mantine/core';
import { api } from '@stagi/contract/api.ts';
import type { Instance } from '@stagi/contract/instances.ts';
import { useQuery } from '@tanstack/react-query';
import { Link } from 'react-router';
import { q } from '../../../api/query.ts';
import { useHasPermission } from '../../../api/user.ts';
import { useT } from '../../../i18n/i18n.ts';
import { paths } from '../../../paths.ts';
import { CodeBlock } from '../../../ui/CodeBlock.tsx';
import { FactList, FactPanels } from '../../../ui/FactList.tsx';
import { formatNumber } from '../../../ui/format.ts';
import { Money } from '../../../ui/Money.tsx';
import { systemFacts } from '../../../ui/machineFacts.tsx';
import { Note } from '../../../ui/Note.tsx';
import { DateTime, TimeAgo } from '../../../ui/Time.tsx';
import classes from '../Instances.module.css';
import { MachineWarnings } from '../MachineWarnings.tsx';
import { CreationProgress } from './CreationProgress.tsx';
import { LogBucketUse } from './LogBucketUse.tsx';
import { rentedBy } from './rentedBy.ts';

export function RentedOverview({ instance }: { instance: Instance }) {
  const t = useT();
  const { facts, ip, hostUsername } = instance;
  const seesUse = useHasPermission('BILLING');
  return (
    <Stack gap={16}>
      <Ready instance={instance} />
      {!instance.canStop && !isGone(instance) && (
        <Note tone="warn" title={t('Its data is lost when the balance runs out')}>
          {t(
            'This provider cannot stop servers, so the server is terminated before the balance runs out, and its disk is lost. Back up what you need.',
          )}
        </Note>
      )}
      {!isGone(instance) && (
        <MachineWarnings facts={facts} maker={instance.provider === 'local' ? 'local' : 'provider'} />
      )}
      <FactPanels>
        <FactList
          title={t('Server')}
          facts={[
            { label: t('Provider'), value: t(instance.providerTitle) },
            { label: t('Location'), value: instance.region },
            { label: t('Price per hour'), value: <Money price={instance.pricePerHour} per="hour" /> },
            {
              label: t('While stopped'),
              value: instance.canStop ? (
                <Money price={instance.stoppedPricePerHour} per="hour" />
              ) : (
                t('This provider cannot stop servers')
              ),
            },
            ...(seesUse
              ? [{ label: t('Usage'), value: <Link to={paths.usage(instance.slug)}>{t('View cost')}</Link> }]
              : []),
            { label: t('IP'), value: ip, mono: true, copy: ip ?? undefined },
            { label: t('Host username'), value: hostUsername, mono: true, copy: hostUsername },
            {
              label: t('Log bucket'),
              value: instance.logBucket ? <LogBucketUse bucket={instance.logBucket} /> : t('Deleted'),
            },
            { label: t('Rented by'), value: rentedBy(t, instance) },
            {
              label: instance.createdBy === null ? t('Adopted on') : t('Rented', { context: 'when' }),
              value: <DateTime at={instance.createdAt} />,
            },
          ]}
        />
        <Stack gap={16}>
          <FactList
            title={t('Hardware')}
            facts={[
              { label: t('CPU'), value: cpuText() },
              { label: t('Free for containers'), value: freeText(), mono: true },
              { label: t('RAM'), value: `${formatNumber(instance.ramGb)} GB`, mono: true },
              { label: t('GPU'), value: gpuText() },
              {
                label: t('Drive'),
                value: `${formatNumber(instance.disk.sizeGb, 0)} GB ${instance.disk.type}`,
                mono: true,
              },
            ]}
          />
          <FactList
            title={t('Reported by the agent')}
            facts={[
              { label: t('Last report'), value: instance.daemonSeenAt && <TimeAgo at={instance.daemonSeenAt} /> },
              { label: t('Agent version'), value: instance.daemonVersion, mono: true },
              ...(facts ? systemFacts(t, facts) : []),
            ]}
          />
        </Stack>
      </FactPanels>
    </Stack>
  );

  function cpuText(): string {
    const { cores, name } = instance.cpu;
    return [t('{{count}} cores', { count: cores }), name].filter(Boolean).join(' · ');
  }

  function freeText(): string | null {
    return instance.freeCpus === null ? null : t('{{count}} CPUs', { count: instance.freeCpus });
  }

  function gpuText(): string | null {
    const { gpu } = instance;
    if (!gpu || gpu.count === 0) return null;
    return `${gpu.count} × ${gpu.name} · ${formatNumber(gpu.memoryGb)} GB`;
  }
}

const isGone = ({ status }: Instance): boolean => ['creation failed', 'terminating', 'terminated'].includes(status);

/** How far the creation is, then how to log in. */
function Ready({ instance }: { instance: Instance }) {
  const t = useT();
  const { status, ip } = instance;
  switch (status) {
    case 'in queue':
    case 'creating':
    case 'creation failed':
      return <CreationProgress instance={instance} />;
    case 'terminating':
    case 'terminated':
      return <Note>{t('This server is terminated or terminating. This is its last known state.')}</Note>;
    default:
      if (!ip) return null;
      return (
        <div className={classes.ssh}>
          <h2>{t('Log in')}</h2>
          <LoginLine instance={instance} ip={ip} />
          {status !== 'online' && <p>{t('This works once the server is online again.')}</p>}
        </div>
      );
  }
}

/** Names the file of a key that was generated here, where ssh would not find it by itself. */
function LoginLine({ instance: { id, hostUsername }, ip }: { instance: Instance; ip: string }) {
  const keys = useQuery(q(api.instances.sshKeys, { id, entityFilterRequest: { limit: 100 } }, { quiet: true }));
  const mine = keys.data?.entities.filter(({ isMine }) => isMine) ?? [];
  // A key that was added has its own place on the person's machine, such as an agent.
  const file = mine.every(({ fileName }) => fileName !== null) ? mine[0]?.fileName : null;
  if (keys.isPending) return <Skeleton height={40} />;
  return <CodeBlock prompt="$" wrap code={`ssh ${file ? `-i ~/.ssh/${file} ` : ''}${hostUsername}@${ip}`} />;
}
