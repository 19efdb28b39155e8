import { Stack } from '@mantine/core';
import type { SelfHostedInstance } from '@stagi/contract/instances.ts';
import { areRootsOpen, OWN_VOLUME_ROOT, volumeRootsOf } from '@stagi/contract/policy.ts';
import { useT } from '../../../i18n/i18n.ts';
import { personName } from '../../../i18n/personName.ts';
import { CodeBlock } from '../../../ui/CodeBlock.tsx';
import { FactList, FactPanels } from '../../../ui/FactList.tsx';
import { hardwareFacts, systemFacts } from '../../../ui/machineFacts.tsx';
import { Note } from '../../../ui/Note.tsx';
import { DateTime, TimeAgo } from '../../../ui/Time.tsx';
import { MachineWarnings } from '../MachineWarnings.tsx';

export function SelfHostedOverview({ server }: { server: SelfHostedInstance }) {
  const t = useT();
  const { facts } = server;
  const roots = facts ? volumeRootsOf({ kind: 'self-hosted', facts }) : [];
  return (
    <Stack gap={16}>
      <StateNote server={server} />
      {server.status !== 'deleted' && <MachineWarnings facts={facts} maker="owner" />}
      {server.status !== 'deleted' && areRootsOpen(roots) && <OpenToVolumes />}
      <FactPanels>
        <FactList
          title={t('Server')}
          facts={[
            { label: t('Connects from'), value: server.ip, mono: true, copy: server.ip ?? undefined },
            { label: t('Attached by'), value: personName(t, server.createdBy) },
            { label: t('Attached'), value: <DateTime at={server.createdAt} /> },
          ]}
        />
        {facts && (
          <FactList
            title={t('Hardware')}
            facts={[
              ...hardwareFacts(t, facts),
              {
                label: t('Free for containers'),
                value: server.freeCpus === null ? null : t('{{count}} CPUs', { count: server.freeCpus }),
              },
            ]}
          />
        )}
        <FactList
          title={t('Reported by the agent')}
          facts={[
            { label: t('Last report'), value: server.daemonSeenAt && <TimeAgo at={server.daemonSeenAt} /> },
            { label: t('Agent version'), value: server.daemonVersion, mono: true },
            ...(facts ? systemFacts(t, facts) : []),
            ...(roots.length > 0 ? [{ label: t('Volumes below'), value: roots.join(', '), mono: true }] : []),
          ]}
        />
      </FactPanels>
    </Stack>
  );
}

/** As servers are that joined before volumes had a folder of their own. */
function OpenToVolumes() {
  const t = useT();
  return (
    <div data-testid="volumes-wide-open">
      <Note tone="warn" title={t('Volumes may lie anywhere on this server')}>
        <p>
          {t(
            'Whoever may create containers can read and change nearly every file of it, and so control it. To close it, name other directories in the policy of the server, then restart the agent. Containers with volumes elsewhere do not start any more.',
          )}
        </p>
        <CodeBlock title="/etc/stagi/policy.json" code={`"volumeRoots": ["${OWN_VOLUME_ROOT}"]`} />
      </Note>
    </div>
  );
}

/** What to do about a server that is not online. */
function StateNote({ server }: { server: SelfHostedInstance }) {
  const t = useT();
  switch (server.status) {
    case 'awaiting setup':
      return (
        <Note title={t('This server has not joined yet')}>
          {t(
            'Run the install line on it. If you no longer have the file or the line, create new ones with “Reissue token”.',
          )}
        </Note>
      );
    case 'unresponsive':
    case 'offline':
      return (
        <Note tone="warn" title={t('The agent of this server is not reporting')}>
          {t(
            'Its containers keep running. Check that the machine is on and online, and that this command shows no error:',
          )}{' '}
          <code className="mono">systemctl status stagid</code>
        </Note>
      );
    case 'deleted':
      return <Note>{t('This server was deleted. This is its last known state.')}</Note>;
    case 'online':
      return null;
  }
}
