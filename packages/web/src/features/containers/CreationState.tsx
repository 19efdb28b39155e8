import { Progress } from '@mantine/core';
import type { Container } from '@stagi/contract/containers.ts';
import { Link } from 'react-router';
import { useT } from '../../i18n/i18n.ts';
import { paths } from '../../paths.ts';
import { Button } from '../../ui/Button.tsx';
import { Note } from '../../ui/Note.tsx';
import { Elapsed } from '../../ui/Time.tsx';
import { useProgressText } from './useProgressText.ts';

/** The progress while a container is created, or why it could not be. */
export function CreationState({ container }: { container: Container }) {
  const t = useT();
  const progress = useProgressText()(container);
  switch (container.status) {
    case 'creating':
    case 'starting': {
      const fraction = container.progress?.fraction ?? null;
      return (
        <Note
          title={
            <>
              {progress ?? t('Waiting for the server to take it')} · <Elapsed since={container.statusSince} />
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
        </Note>
      );
    }
    case 'creation failed':
      return (
        <Note
          tone="bad"
          title={t('The container could not be created')}
          action={
            <Button color="gray" size="xs" component={Link} to={paths.newContainer(container.instance.id)}>
              {t('Create another')}
            </Button>
          }
        >
          {container.statusReason && t(container.statusReason)}
        </Note>
      );
    case 'unresponsive':
      return (
        <Note tone="warn" title={t('The daemon of its server is not heard')}>
          {t('What is shown is what was last known. The container itself goes on.')}
        </Note>
      );
    default:
      return null;
  }
}
