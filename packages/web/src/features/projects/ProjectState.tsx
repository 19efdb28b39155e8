import { api } from '@stagi/contract/api.ts';
import type { Project } from '@stagi/contract/projects.ts';
import { Link } from 'react-router';
import { invalidate } from '../../api/query.ts';
import { useCall } from '../../api/useCall.ts';
import { useT } from '../../i18n/i18n.ts';
import { paths } from '../../paths.ts';
import { Button } from '../../ui/Button.tsx';
import { formatDate } from '../../ui/format.ts';
import { Note } from '../../ui/Note.tsx';
import { Elapsed } from '../../ui/Time.tsx';
import { toast } from '../../ui/toasts.ts';
import classes from './Projects.module.css';

/** What is out of the ordinary: its creation, its archiving, its deletion. */
export function ProjectState({ project }: { project: Project }) {
  if (project.status === 'active') return null;
  return (
    <div className={classes.notice}>
      <Notice project={project} />
    </div>
  );
}

function Notice({ project: { id, status, statusSince, statusReason, archivedAt } }: { project: Project }) {
  const t = useT();
  const unarchive = useCall(api.projects.unarchive, {
    onDone: () => {
      void invalidate('project/');
      toast.success(t('The project is no longer archived'));
    },
  });
  const reason = statusReason && t(statusReason);
  switch (status) {
    case 'active':
      return null;
    case 'creating':
      return (
        <Note
          title={
            <>
              {t('The repository is being created')} · <Elapsed since={statusSince} />
            </>
          }
        >
          {reason}
        </Note>
      );
    case 'creation failed':
      return (
        <Note
          tone="bad"
          title={t('The project could not be created')}
          action={
            <Button color="gray" size="xs" component={Link} to={paths.newProject()}>
              {t('Create another')}
            </Button>
          }
        >
          {reason}
        </Note>
      );
    case 'archived':
      return (
        <Note
          title={t('Archived on {{when}}: it can only be read', { when: formatDate(archivedAt ?? statusSince) })}
          action={
            <Button
              color="gray"
              size="xs"
              loading={unarchive.loading}
              onClick={() => void unarchive.run({ id })}
              data-testid="project-unarchive-here"
            >
              {t('Unarchive')}
            </Button>
          }
        >
          {t('It can be cloned. Nothing can be pushed, and nothing new starts.')}
        </Note>
      );
    case 'deleting':
      return (
        <Note
          tone="warn"
          title={
            <>
              {t('The project is being deleted')} · <Elapsed since={statusSince} />
            </>
          }
        >
          {reason ?? t('Its containers are stopped first, then its repository is deleted.')}
        </Note>
      );
    case 'deletion failed':
      return (
        <Note
          tone="bad"
          title={t('The project could not be deleted')}
          action={
            <Button color="gray" size="xs" component={Link} to={paths.project(id, 'settings')}>
              {t('Delete again')}
            </Button>
          }
        >
          {reason}
        </Note>
      );
    case 'deleted':
      return <Note>{t('This project is deleted. This is its last known state.')}</Note>;
  }
}
