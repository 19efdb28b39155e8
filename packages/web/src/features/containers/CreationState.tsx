import { Group, Progress } from '@mantine/core';
import { containerCan } from '@stagi/contract/containerRules.ts';
import type { Container } from '@stagi/contract/containers.ts';
import { parseImage } from '@stagi/contract/imageReference.ts';
import { text } from '@stagi/contract/text.ts';
import { Link } from 'react-router';
import { useT } from '../../i18n/i18n.ts';
import { paths } from '../../paths.ts';
import { Button } from '../../ui/Button.tsx';
import { Note } from '../../ui/Note.tsx';
import { Countdown, DateTime, Elapsed } from '../../ui/Time.tsx';
import { PulledLayers } from './PulledLayers.tsx';
import { RegistriesButton } from './registries/RegistriesButton.tsx';
import { useMayManage } from './useContainerActions.tsx';
import { useProgressText } from './useProgressText.ts';

/** The progress while a container is created, what failed and is tried again, or why it could not be created. */
export function CreationState({ container }: { container: Container }) {
  const t = useT();
  switch (container.status) {
    case 'creating':
    case 'starting':
      return container.failedStep ? (
        <TriedAgain container={container} step={container.failedStep} />
      ) : (
        <Creating container={container} />
      );
    case 'creation failed':
      return (
        <Note
          tone="bad"
          title={t('The container could not be created')}
          action={
            <>
              <ChangeImage container={container} />
              {container.task === null && (
                <Button
                  color="gray"
                  size="xs"
                  component={Link}
                  to={paths.newContainer({ serverId: container.instance.id })}
                >
                  {t('Create another')}
                </Button>
              )}
            </>
          }
        >
          {container.statusReason && t(container.statusReason)}
        </Note>
      );
    case 'unresponsive':
      return (
        <Note tone="warn" title={t('The agent of its server is not reporting')}>
          {t('This is its last known state. The container itself keeps running.')}
        </Note>
      );
    default:
      return null;
  }
}

function Creating({ container }: { container: Container }) {
  const t = useT();
  const progress = useProgressText()(container);
  const fraction = container.progress?.fraction ?? null;
  return (
    <Note
      title={
        <>
          {progress ?? t('Waiting for the server to start it')} · <Elapsed since={container.statusSince} />
        </>
      }
    >
      {container.progress?.detail && <span className="mono">{container.progress.detail}</span>}
      <Progress
        mt={8}
        size="sm"
        value={fraction === null ? 100 : fraction * 100}
        animated={fraction === null}
        striped={fraction === null}
        aria-label={progress ?? t('Progress')}
      />
      {container.progress?.layers && <PulledLayers layers={container.progress.layers} />}
    </Note>
  );
}

const FAILED: Record<string, string> = {
  pull: text('The image could not be pulled'),
  start: text('The container could not be started'),
};

/** A bar is shown only for what has been downloaded: an attempt as such is no progress. */
function TriedAgain({ container, step }: { container: Container; step: NonNullable<Container['failedStep']> }) {
  const t = useT();
  const progress = useProgressText()(container);
  const fraction = container.progress?.fraction ?? null;
  const { phase, cause, attempts, nextTryAt, waitsFor } = step;
  const mayManage = useMayManage()(container);
  return (
    <Note
      tone="bad"
      title={t(FAILED[phase] ?? 'The container could not be created')}
      action={
        <Group gap={8}>
          {waitsFor && mayManage && (
            <RegistriesButton
              primary
              label={t('Change the credential')}
              host={parseImage(container.dockerImage)?.host}
            />
          )}
          <ChangeImage container={container} />
        </Group>
      }
    >
      <div>{t(cause)}</div>
      <div data-testid="next-attempt">
        {waitsFor ? (
          t('It is tried again as soon as the credential of the registry is changed.')
        ) : nextTryAt ? (
          <>
            {t('Attempt {{number}} failed. Next attempt:', { number: attempts })} <DateTime at={nextTryAt} />{' '}
            <Countdown to={nextTryAt} />
          </>
        ) : (
          t('Attempt {{number}} in progress', { number: attempts + 1 })
        )}
      </div>
      {fraction !== null && <Progress mt={8} size="sm" value={fraction * 100} aria-label={progress ?? t('Progress')} />}
    </Note>
  );
}

/** Opens the form of this container. */
function ChangeImage({ container }: { container: Container }) {
  const t = useT();
  const mayManage = useMayManage()(container);
  const isAboutImage = container.failedStep?.phase === 'pull';
  if (!mayManage || !isAboutImage || !containerCan.edit(container).allowed) return null;
  return (
    <Button
      size="xs"
      color={container.failedStep?.waitsFor ? 'gray' : undefined}
      component={Link}
      to={paths.container(container.id, 'edit')}
      data-testid="change-image"
    >
      {t('Change image')}
    </Button>
  );
}
