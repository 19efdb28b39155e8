import { Link } from 'react-router';
import { useHasPermission } from '../../../api/user.ts';
import { useT } from '../../../i18n/i18n.ts';
import { paths } from '../../../paths.ts';
import { Button } from '../../../ui/Button.tsx';
import { Note } from '../../../ui/Note.tsx';
import type { TaskOffer } from './taskOffer.ts';

interface Props {
  project: TaskOffer['projects'][number];
  /** Null while what the project offers is read. */
  offer: TaskOffer | null;
}

/** What a task needs and this project does not have yet, with the way there. */
export function ProjectGaps({ project, offer }: Props) {
  const t = useT();
  const mayManage = useHasPermission('PROJECT_MANAGEMENT');
  const mayRent = useHasPermission('INSTANCE_RENTED_MANAGEMENT');
  return (
    <>
      {project.isEmpty && (
        <Note
          tone="warn"
          title={t('This repository is empty')}
          action={mayManage && <Step to={paths.project(project.id)}>{t('Push or import code')}</Step>}
        >
          {t('A task runs the code of a commit: push one first.')}
        </Note>
      )}
      {offer?.instances.length === 0 && (
        <Note
          tone="warn"
          title={t('No server is attached to this project')}
          action={mayManage && <Step to={paths.project(project.id, 'instances')}>{t('Attach a server')}</Step>}
        >
          {t('Tasks run on the rented and self-hosted servers of their project.')}
        </Note>
      )}
      {offer?.storages.length === 0 && (
        <Note
          tone="warn"
          title={t('This workspace has no storage')}
          action={mayRent && <Step to={paths.newStorage()}>{t('Create a storage')}</Step>}
        >
          {t('A task reads its input from a storage and writes its output there.')}
        </Note>
      )}
    </>
  );
}

function Step({ to, children }: { to: string; children: string }) {
  return (
    <Button color="gray" size="xs" component={Link} to={to}>
      {children}
    </Button>
  );
}
