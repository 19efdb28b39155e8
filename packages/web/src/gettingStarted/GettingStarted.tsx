import { Skeleton } from '@mantine/core';
import { api } from '@stagi/contract/api.ts';
import type { GettingStartedStep } from '@stagi/contract/gettingStarted.ts';
import type { Permission } from '@stagi/contract/permissions.ts';
import { IconX } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { Link } from 'react-router';
import { errorText } from '../api/messages.ts';
import { q } from '../api/query.ts';
import { useCall } from '../api/useCall.ts';
import { setProfile, useHasPermission, useUser } from '../api/user.ts';
import { useT } from '../i18n/i18n.ts';
import { paths } from '../paths.ts';
import { Button } from '../ui/Button.tsx';
import { IconButton } from '../ui/IconButton.tsx';
import { StepMark } from '../ui/StepMark.tsx';
import classes from './GettingStarted.module.css';

const SERVERS: readonly Permission[] = ['INSTANCE_RENTED_MANAGEMENT', 'SELFHOSTED_INSTANCE_MANAGEMENT'];

interface Step {
  name: GettingStartedStep;
  title: string;
  text: string;
  action: string;
  to: string;
}

/**
 * The first steps of a new user, until they close it: key, server, container, log. For those who may have servers;
 * the others have no step to take.
 */
export function GettingStarted() {
  const { profile } = useUser();
  const mayHaveServers = useHasPermission(...SERVERS);
  return profile.isGettingStarted && mayHaveServers ? <Checklist /> : null;
}

function Checklist() {
  const t = useT();
  const steps = useQuery(q(api.gettingStarted.view, {}, { quiet: true }));
  const close = useCall(api.gettingStarted.edit, { onDone: ({ userProfile }) => setProfile(userProfile) });
  const mayAddKeys = useHasPermission('SSH_KEY_MANAGEMENT');
  const mayRent = useHasPermission('INSTANCE_RENTED_MANAGEMENT');
  const { data } = steps;
  const shown = listSteps().filter(({ name }) => name !== 'key' || mayAddKeys);
  const next = data && shown.find(({ name }) => !data.done[name])?.name;
  const count = data && shown.filter(({ name }) => data.done[name]).length;
  return (
    <section className={classes.panel} aria-labelledby="getting-started" data-testid="getting-started">
      <header className={classes.head}>
        <h2 id="getting-started">{data && !next ? t('You are all set') : t('Get started')}</h2>
        <span className={classes.count} role="status">
          {count !== undefined && t('{{done}} of {{all}} done', { done: count, all: shown.length })}
        </span>
        <IconButton
          size="xxxs"
          plain
          label={t('Close the checklist')}
          data-testid="getting-started-close"
          disabled={close.loading}
          onClick={() => void close.run({ closed: true })}
        >
          <IconX size={16} />
        </IconButton>
      </header>
      {steps.error && !data ? (
        <p className={classes.error}>
          {errorText(steps.error)}{' '}
          <Button color="gray" size="xs" loading={steps.isFetching} onClick={() => void steps.refetch()}>
            {t('Try again')}
          </Button>
        </p>
      ) : (
        <ol className={classes.steps}>
          {shown.map((step, index) => (
            <li key={step.name} className={classes.step} data-step={step.name} data-done={data?.done[step.name]}>
              <StepMark state={data?.done[step.name] ? 'done' : 'todo'} number={index + 1} size="m" />
              <div className={classes.text}>
                <strong>{step.title}</strong>
                {data?.done[step.name] && <span className="visually-hidden">{t('Done')}</span>}
                <span>{step.text}</span>
              </div>
              {data ? (
                step.name === next && (
                  <Button component={Link} to={step.to} size="xs" color="gray">
                    {step.action}
                  </Button>
                )
              ) : (
                <Skeleton className={classes.wait} height={12} width={64} />
              )}
            </li>
          ))}
        </ol>
      )}
    </section>
  );

  function listSteps(): Step[] {
    return [
      {
        name: 'key',
        title: t('Add an SSH key'),
        text: t('You log in to your servers with it.'),
        action: t('Add a key'),
        to: paths.sshKeys(),
      },
      {
        name: 'server',
        title: t('Get a server'),
        text: t('Rent one by the hour, or attach your own.'),
        action: mayRent ? t('See offers') : t('Attach a server'),
        to: mayRent ? paths.marketplace() : paths.selfInstances(),
      },
      {
        name: 'container',
        title: t('Create a container'),
        text: t('From any image, on that server.'),
        action: t('Create'),
        to: paths.newContainer(),
      },
      {
        name: 'log',
        title: t('Watch its log'),
        text: t('Lines appear as they are printed.'),
        action: t('Open the log'),
        to: data?.containerId ? paths.container(data.containerId, 'logs') : paths.containers(),
      },
    ];
  }
}
