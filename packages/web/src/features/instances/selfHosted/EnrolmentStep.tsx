import { Stack } from '@mantine/core';
import type { api } from '@stagi/contract/api.ts';
import type { OutputOf } from '@stagi/contract/call.ts';
import { OWN_VOLUME_ROOT } from '@stagi/contract/policy.ts';
import { useState } from 'react';
import { track } from '../../../api/analytics.ts';
import { useT } from '../../../i18n/i18n.ts';
import { CodeBlock } from '../../../ui/CodeBlock.tsx';
import { Checkbox } from '../../../ui/form/Checkbox.tsx';
import { Note } from '../../../ui/Note.tsx';
import { SecretFile } from '../../../ui/SecretFile.tsx';
import { StepMark } from '../../../ui/StepMark.tsx';
import { DateTime } from '../../../ui/Time.tsx';
import { takeFocus } from '../../../ui/takeFocus.ts';
import { Requirements } from './Requirements.tsx';
import classes from './SelfHosted.module.css';
import { WaitForServer } from './WaitForServer.tsx';

interface Props {
  enrolment: OutputOf<typeof api.selfHosted.create>;
  onJoined(): void;
}

const FILE = 'daemon-token.jwt';

/** Shows the enrolment file once, the install command, and whether the server has joined. */
export function EnrolmentStep({ enrolment, onJoined }: Props) {
  const t = useT();
  const [flags, setFlags] = useState({ cpu: false, linux: false, terminal: false, anyFolder: false });
  const { entity, daemonToken, installCommand, expiresAt, onlyThisMachine } = enrolment;

  return (
    <Stack gap={24} ref={takeFocus} tabIndex={-1} style={{ outline: 'none' }}>
      {onlyThisMachine && (
        <Note tone="warn" title={t('Only this machine can join')}>
          {t(
            'Other servers cannot reach the platform yet: the operator must set DAEMON_ORIGIN to an address they can reach.',
          )}
        </Note>
      )}
      <ol className={classes.steps}>
        <li>
          <StepMark state="todo" number={1} size="l" />
          <h2>{t('Get the enrolment file')}</h2>
          <p>
            {t('It is shown only once, lets one server join and expires')} <DateTime at={expiresAt} />.
          </p>
          <SecretFile
            name={FILE}
            content={daemonToken}
            onTaken={(how) => how === 'downloaded' && track('daemon_jwt_token_downloaded')}
            testId="token-download"
          />
        </li>
        <li>
          <StepMark state="todo" number={2} size="l" />
          <h2>{t('Copy it to the server')}</h2>
          <CodeBlock prompt="$" wrap code={`scp ${FILE} root@${t('your-server')}:`} />
        </li>
        <li>
          <StepMark state="todo" number={3} size="l" />
          <h2>{t('Run this there as root, in the same folder')}</h2>
          <Stack gap={8} mb={12}>
            <Checkbox
              label={t('This server has no NVIDIA GPU')}
              checked={flags.cpu}
              onChange={(event) => setFlags({ ...flags, cpu: event.currentTarget.checked })}
              data-testid="allow-cpu"
            />
            <Checkbox
              label={t('This server does not run Ubuntu')}
              checked={flags.linux}
              onChange={(event) => setFlags({ ...flags, linux: event.currentTarget.checked })}
              data-testid="allow-any-linux"
            />
            <Checkbox
              label={t('Allow a terminal on this server')}
              description={t('Members who manage it can open a shell of root in the browser.')}
              checked={flags.terminal}
              onChange={(event) => setFlags({ ...flags, terminal: event.currentTarget.checked })}
              data-testid="allow-host-terminal"
            />
            <Checkbox
              label={t('Allow volumes anywhere on this server')}
              description={t(
                'Whoever may create containers can then read and change nearly every file of it, and so control it. Otherwise volumes lie below {{root}}.',
                { root: OWN_VOLUME_ROOT },
              )}
              checked={flags.anyFolder}
              onChange={(event) => setFlags({ ...flags, anyFolder: event.currentTarget.checked })}
              data-testid="allow-any-folder"
            />
          </Stack>
          <div data-testid="install-command">
            <CodeBlock prompt="#" wrap code={withFlags(installCommand, flags)} />
          </div>
          <p>{t('It downloads the installer, verifies its checksum and starts the agent.')}</p>
        </li>
        <li>
          <StepMark state="todo" number={4} size="l" />
          <WaitForServer id={entity.id} heardBefore={entity.daemonSeenAt} expiresAt={expiresAt} onJoined={onJoined} />
        </li>
      </ol>
      <Requirements />
    </Stack>
  );
}

/** The command ends in the installer's arguments. */
function withFlags(
  command: string,
  { cpu, linux, terminal, anyFolder }: Record<'cpu' | 'linux' | 'terminal' | 'anyFolder', boolean>,
): string {
  return [
    command,
    ...(cpu ? ['--allow-cpu'] : []),
    ...(linux ? ['--allow-any-linux'] : []),
    ...(terminal ? ['--allow-host-terminal'] : []),
    ...(anyFolder ? ['--allow-any-folder'] : []),
  ].join(' ');
}
