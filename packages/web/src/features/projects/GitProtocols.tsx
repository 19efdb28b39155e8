import { Anchor, Stack } from '@mantine/core';
import type { Project } from '@stagi/contract/projects.ts';
import type { ReactNode } from 'react';
import { Link } from 'react-router';
import { useT } from '../../i18n/i18n.ts';
import { paths } from '../../paths.ts';
import { Tabs } from '../../ui/Tabs.tsx';
import classes from './Projects.module.css';

interface Props {
  project: Project;
  /** What to do with an address of the repository. */
  children(address: string): ReactNode;
}

/** HTTPS and SSH, each with the repository's address and with what git will ask for. */
export function GitProtocols({ project: { gitHttps, gitSsh }, children }: Props) {
  const t = useT();
  const https = {
    key: 'https',
    // Without TLS, as on the machine of a developer, it is no HTTPS.
    label: gitHttps.startsWith('https:') ? 'HTTPS' : 'HTTP',
    content: (
      <Stack gap={12}>
        {children(gitHttps)}
        <p className={classes.hint}>
          {t('Git asks for a user name, which may be any, and for a password, which is an API token.')}{' '}
          <Anchor component={Link} to={paths.tokens()} fz="inherit" underline="always">
            {t('Create an API token')}
          </Anchor>
        </p>
      </Stack>
    ),
  };
  const ssh = {
    key: 'ssh',
    label: 'SSH',
    content: (
      <Stack gap={12}>
        {children(gitSsh)}
        <p className={classes.hint}>
          {t('Git logs in with one of your SSH keys.')}{' '}
          <Anchor component={Link} to={paths.sshKeys()} fz="inherit" underline="always">
            {t('Add an SSH key')}
          </Anchor>
        </p>
      </Stack>
    ),
  };
  return <Tabs label={t('Protocol')} tabs={[https, ssh]} />;
}
