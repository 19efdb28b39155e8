import { api } from '@stagi/contract/api.ts';
import { projectCan } from '@stagi/contract/projectRules.ts';
import type { Project } from '@stagi/contract/projects.ts';
import { useState } from 'react';
import { useNavigate } from 'react-router';
import { invalidate, queryClient } from '../../../api/query.ts';
import { useCall } from '../../../api/useCall.ts';
import { useProject } from '../../../featureSlots.ts';
import { useT } from '../../../i18n/i18n.ts';
import { paths } from '../../../paths.ts';
import { ActionButton } from '../../../ui/actions.tsx';
import { Checkbox } from '../../../ui/form/Checkbox.tsx';
import { formatDecimalBytes } from '../../../ui/format.ts';
import { toast } from '../../../ui/toasts.ts';
import { DeleteProject } from '../DeleteProject.tsx';
import { PlanUse } from '../PlanUse.tsx';
import { GeneralForm } from './GeneralForm.tsx';
import classes from './Settings.module.css';

export function ProjectSettings() {
  const t = useT();
  const project = useProject();
  return (
    <div>
      <section className={classes.section}>
        <h2>{t('General')}</h2>
        <GeneralForm project={project} />
      </section>
      <section className={classes.section}>
        <h2>{t('Pushes')}</h2>
        <div className={classes.fields}>
          <ForcedPush project={project} />
        </div>
      </section>
      <section className={classes.section}>
        <h2>{t('Size')}</h2>
        <div className={classes.fields}>
          <p className={classes.lead}>
            {t('The repository takes {{size}}.', { size: formatDecimalBytes(project.sizeBytes) })}
          </p>
          <PlanUse />
        </div>
      </section>
      <Archiving project={project} />
      <Deleting project={project} />
    </div>
  );
}

function ForcedPush({ project }: { project: Project }) {
  const t = useT();
  const { id, allowForcedPush, defaultBranch } = project;
  const { run, loading } = useCall(api.projects.edit, {
    onDone: (answer) => {
      queryClient.setQueryData([api.projects.view.path, { id }], answer);
      void invalidate('project/');
    },
  });
  const verdict = projectCan.change(project);
  return (
    <Checkbox
      label={t('Allow forced pushes to {{branch}}', { branch: defaultBranch })}
      description={
        verdict.allowed
          ? t('They may remove commits from the history. It also allows the branch to be deleted.')
          : t(verdict.reason)
      }
      // While it is being saved: as it was chosen.
      checked={loading ? !allowForcedPush : allowForcedPush}
      disabled={!verdict.allowed}
      onChange={() => loading || void run({ id, allowForcedPush: !allowForcedPush })}
      data-testid="allow-forced-push"
    />
  );
}

function Archiving({ project }: { project: Project }) {
  const t = useT();
  const { id, status } = project;
  const isArchived = status === 'archived';
  const archive = useCall(api.projects.archive, {
    onDone: () => {
      void invalidate('project/');
      toast.success(t('The project is archived'));
    },
  });
  const unarchive = useCall(api.projects.unarchive, {
    onDone: () => {
      void invalidate('project/');
      toast.success(t('The project is no longer archived'));
    },
  });
  return (
    <section className={classes.section}>
      <h2>{isArchived ? t('Unarchive') : t('Archive')}</h2>
      <div className={classes.fields}>
        <p className={classes.lead}>
          {isArchived
            ? t('Then it can be pushed to and changed again.')
            : t('An archived project can be read and cloned. Nothing can be pushed, and nothing new starts.')}
        </p>
        <div>
          {isArchived ? (
            <ActionButton
              verdict={projectCan.unarchive(project)}
              loading={unarchive.loading}
              onClick={() => void unarchive.run({ id })}
              testId="project-unarchive"
            >
              {t('Unarchive')}
            </ActionButton>
          ) : (
            <ActionButton
              verdict={projectCan.archive(project)}
              loading={archive.loading}
              onClick={() => void archive.run({ id })}
              testId="project-archive"
            >
              {t('Archive')}
            </ActionButton>
          )}
        </div>
      </div>
    </section>
  );
}

function Deleting({ project }: { project: Project }) {
  const t = useT();
  const navigate = useNavigate();
  const [opened, setOpened] = useState(false);
  return (
    <section className={classes.section}>
      <h2>{t('Delete')}</h2>
      <div className={classes.fields}>
        <p className={classes.lead}>
          {t('The repository and the containers of the project are deleted. You see a list first.')}
        </p>
        <div>
          <ActionButton
            tone="danger"
            verdict={projectCan.delete(project)}
            onClick={() => setOpened(true)}
            testId="project-delete"
          >
            {t('Delete')}
          </ActionButton>
        </div>
      </div>
      <DeleteProject
        project={opened ? project : null}
        onClose={() => setOpened(false)}
        onDeleted={() => void navigate(paths.projects())}
      />
    </section>
  );
}
