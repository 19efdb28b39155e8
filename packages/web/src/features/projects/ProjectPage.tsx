import { api } from '@stagi/contract/api.ts';
import { isImporting, projectCan } from '@stagi/contract/projectRules.ts';
import type { Project } from '@stagi/contract/projects.ts';
import { ROUTES } from '@stagi/contract/routes.ts';
import type { ComponentProps } from 'react';
import { Link, Outlet, useLocation } from 'react-router';
import { useHasPermission } from '../../api/user.ts';
import { useT } from '../../i18n/i18n.ts';
import { DetailPage } from '../../layouts/DetailPage.tsx';
import { useRoute } from '../../navigation/useRoute.ts';
import { paths } from '../../paths.ts';
import { LinkTabs, type TabLink } from '../../ui/LinkTabs.tsx';
import { PageHeader } from '../../ui/PageHeader.tsx';
import { projectStatus } from '../../ui/projectStatus.ts';
import { StatusBadge } from '../../ui/StatusBadge.tsx';
import { CloneButton } from './CloneButton.tsx';
import { EmptyProject } from './EmptyProject.tsx';
import { ImportProgress } from './ImportProgress.tsx';
import { ProjectState } from './ProjectState.tsx';
import classes from './Projects.module.css';

/** Events announce pushes and servers. What is running is counted anew now and then. */
const REFETCH_MS = 15_000;
const REFETCH_IN_TRANSITION_MS = 1_500;

/** The tabs beside the code, by their routes. */
const TABS = [
  ROUTES.projectInstances,
  ROUTES.projectContainers,
  ROUTES.projectTasks,
  ROUTES.projectActivity,
  ROUTES.projectSettings,
];

/** What surrounds the pages of one project: its header and tabs. The pages below ask `useProject` for it. */
export function ProjectPage() {
  const t = useT();
  const { path, title: pageTitle } = useRoute();
  const isFirst = path === ROUTES.project.path || path.endsWith('/tree');
  return (
    <DetailPage
      view={api.projects.view}
      everyMs={(project) => (isInTransition(project) ? REFETCH_IN_TRANSITION_MS : REFETCH_MS)}
      pageTitle={({ title }) => (isFirst ? title : `${title} · ${t(pageTitle)}`)}
      above={({ id, title }) => (isFirst ? undefined : { to: paths.project(id), title })}
    >
      {(project) => <Loaded project={project} />}
    </DetailPage>
  );
}

const isInTransition = (project: Project | undefined): boolean =>
  project !== undefined && (project.status === 'creating' || project.status === 'deleting' || isImporting(project));

function Loaded({ project }: { project: Project }) {
  const t = useT();
  const { id, title, slug, description } = project;
  const mayRunTasks = useHasPermission('RUNNING_TASKS');
  return (
    <>
      <PageHeader
        title={title}
        slug={slug}
        status={
          <span data-testid="project-status">
            <StatusBadge status={projectStatus(project)} prominent />
          </span>
        }
        actions={projectCan.read(project).allowed && <CloneButton project={project} />}
      >
        {description && (
          <span className={classes.description} title={description}>
            {description}
          </span>
        )}
      </PageHeader>
      <ProjectState project={project} />
      <LinkTabs
        label={t('Project')}
        link={TabOfProject}
        tabs={[
          { label: t('Code'), to: paths.project(id) },
          { label: t('Instances'), to: paths.project(id, 'instances'), count: project.instanceCount },
          { label: t('Containers'), to: paths.project(id, 'containers'), count: project.containerCount },
          ...(mayRunTasks ? [{ label: t('Tasks'), to: paths.project(id, 'tasks'), count: project.taskCount }] : []),
          { label: t('Activity'), to: paths.project(id, 'activity') },
          { label: t('Settings'), to: paths.project(id, 'settings') },
        ]}
      />
      <Body project={project} />
    </>
  );
}

/** The page below, unless it shows code and there is none. */
function Body({ project }: { project: Project }) {
  const isCode = useIsCode();
  const { path } = useRoute();
  // The address of the project itself leads on.
  if (isCode && path !== ROUTES.project.path) {
    if (isImporting(project)) return <ImportProgress project={project} />;
    if (!projectCan.read(project).allowed) return null;
    if (project.isEmpty) return <EmptyProject project={project} />;
  }
  return <Outlet context={project} />;
}

/** Whether the page is one of the code, of which there are many. */
function useIsCode(): boolean {
  const { path } = useRoute();
  return !TABS.some((tab) => tab.path === path);
}

/** The tab of the code is the current one on all pages of the code. */
function TabOfProject({ to, end: _, ...props }: ComponentProps<TabLink>) {
  const { pathname } = useLocation();
  const isCode = useIsCode();
  const isCurrent = to.endsWith('/tree') ? isCode : pathname === to;
  return <Link {...props} to={to} aria-current={isCurrent ? 'page' : undefined} />;
}
