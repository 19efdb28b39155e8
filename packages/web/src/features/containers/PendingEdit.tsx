import { Group, Progress } from '@mantine/core';
import { api } from '@stagi/contract/api.ts';
import { containerCan } from '@stagi/contract/containerRules.ts';
import type { Container } from '@stagi/contract/containers.ts';
import { parseImage } from '@stagi/contract/imageReference.ts';
import { text } from '@stagi/contract/text.ts';
import { Link } from 'react-router';
import { useCall } from '../../api/useCall.ts';
import { useT } from '../../i18n/i18n.ts';
import { paths } from '../../paths.ts';
import { Button } from '../../ui/Button.tsx';
import { Note } from '../../ui/Note.tsx';
import { Countdown, DateTime, Elapsed } from '../../ui/Time.tsx';
import { PulledLayers } from './PulledLayers.tsx';
import { RegistriesButton } from './registries/RegistriesButton.tsx';
import { useMayManage } from './useContainerActions.tsx';
import { useContainerChange } from './useContainerChange.ts';
import { useProgressText } from './useProgressText.ts';

type Edit = NonNullable<Container['pendingEdit']>;

/** A change that waits for the server: how far it is, or what failed, and the ways on and back. */
export function PendingEdit({ container, edit }: { container: Container; edit: Edit }) {
  const t = useT();
  return edit.failedStep ? (
    <Failed container={container} step={edit.failedStep} />
  ) : (
    <Note
      title={
        <span data-testid="pending-edit">
          <Doing edit={edit} /> · <Elapsed since={edit.since} />
        </span>
      }
      action={<Undo container={container} />}
    >
      <div>{isOldThere(container) ? t('The container goes on as it was until then.') : null}</div>
      {edit.progress?.detail && <span className="mono">{edit.progress.detail}</span>}
      <Bar edit={edit} />
      {edit.progress?.layers && <PulledLayers layers={edit.progress.layers} />}
    </Note>
  );
}

function Doing({ edit }: { edit: Edit }) {
  const t = useT();
  const progress = useProgressText()(edit);
  return progress ?? t('Waiting for the server to apply the change');
}

function Bar({ edit }: { edit: Edit }) {
  const t = useT();
  const fraction = edit.progress?.fraction ?? null;
  return (
    <Progress
      mt={8}
      size="sm"
      value={fraction === null ? 100 : fraction * 100}
      animated={fraction === null}
      striped={fraction === null}
      aria-label={useProgressText()(edit) ?? t('Progress')}
    />
  );
}

const FAILED: Record<string, string> = {
  pull: text('The change is not applied: the image could not be pulled'),
  start: text('The changed container could not be started'),
};

function Failed({ container, step }: { container: Container; step: NonNullable<Edit['failedStep']> }) {
  const t = useT();
  const { phase, cause, attempts, nextTryAt, waitsFor, final } = step;
  const mayManage = useMayManage()(container);
  return (
    <Note
      tone="bad"
      title={<span data-testid="pending-edit">{t(FAILED[phase] ?? 'The change could not be applied')}</span>}
      action={
        <Group gap={8}>
          {waitsFor && mayManage && (
            <RegistriesButton label={t('Change the credential')} host={parseImage(container.dockerImage)?.host} />
          )}
          <TryAgain container={container} />
          <Undo container={container} />
        </Group>
      }
    >
      <div>{t(cause)}</div>
      <div>
        {waitsFor ? (
          t('It is tried again as soon as the credential of the registry is changed.')
        ) : final ? (
          t('It is not tried again by itself.')
        ) : nextTryAt ? (
          <>
            {t('Attempt {{number}} failed. Next attempt:', { number: attempts })} <DateTime at={nextTryAt} />{' '}
            <Countdown to={nextTryAt} />
          </>
        ) : (
          t('Attempt {{number}} in progress', { number: attempts + 1 })
        )}
      </div>
      {isOldThere(container) && <div>{t('The container goes on as it was.')}</div>}
    </Note>
  );
}

/** The container of before is left alone until its image is there. */
function isOldThere({ status, pendingEdit }: Container): boolean {
  return status === 'running' && (pendingEdit?.failedStep?.phase ?? 'pull') === 'pull';
}

function TryAgain({ container }: { container: Container }) {
  const t = useT();
  const { may, change } = useContainerChange(container);
  const { run, loading } = useCall(api.containers.edit, { onDone: change });
  if (!may || !containerCan.edit(container).allowed) return null;
  return (
    <>
      <Button
        size="xs"
        loading={loading}
        onClick={() => void run({ ref: { id: container.id } })}
        data-testid="edit-again"
      >
        {t('Try again')}
      </Button>
      <Button size="xs" color="gray" component={Link} to={paths.container(container.id, 'edit')}>
        {t('Edit')}
      </Button>
    </>
  );
}

function Undo({ container }: { container: Container }) {
  const t = useT();
  const { may, change } = useContainerChange(container);
  const { run, loading } = useCall(api.containers.undoEdit, { onDone: change });
  if (!may || !containerCan.undoEdit(container).allowed) return null;
  return (
    <Button
      size="xs"
      color="gray"
      loading={loading}
      onClick={() => void run({ id: container.id })}
      data-testid="edit-undo"
    >
      {t('Undo the change')}
    </Button>
  );
}
