import { api } from '@stagi/contract/api.ts';
import { ProjectStatus } from '@stagi/contract/projectRules.ts';
import { IconGitBranch, IconPlus } from '@tabler/icons-react';
import { Link } from 'react-router';
import { useT } from '../../i18n/i18n.ts';
import { ListPage } from '../../lists/ListPage.tsx';
import { useList } from '../../lists/useList.ts';
import { useListState } from '../../lists/useListState.ts';
import { paths } from '../../paths.ts';
import { Button } from '../../ui/Button.tsx';
import { projectStatus } from '../../ui/projectStatus.ts';
import { STATUS } from '../../ui/status.ts';
import { FilterMenu } from '../../ui/table/FilterMenu.tsx';
import { CreateProject } from './CreateProject.tsx';
import { useProjectActions } from './useProjectActions.tsx';
import { useProjectColumns } from './useProjectColumns.tsx';

export function ProjectsPage() {
  const t = useT();
  const state = useListState();
  const list = useList(api.projects.list, { entityFilterRequest: state.request }, state);
  const actions = useProjectActions();
  return (
    <ListPage
      title={t('Projects')}
      about={t('Git repositories of this workspace, with the servers and containers that belong to them.')}
      create={
        <Button component={Link} to={paths.newProject()} icon={<IconPlus size={16} />} data-testid="project-create">
          {t('Create a project')}
        </Button>
      }
      list={list}
      search={t('Search projects')}
      filters={
        <FilterMenu
          label={t('Status')}
          options={ProjectStatus.options.map((status) => ({ value: status, label: t(wordOf(status)) }))}
          value={state.statuses}
          onChange={state.setStatuses}
        />
      }
      name="projects"
      rowTestId="project-row"
      columns={useProjectColumns()}
      rowKey={({ id }) => id}
      rowName={({ title }) => title}
      rowLink={({ id }, cell) => <Link to={paths.project(id)}>{cell}</Link>}
      actions={actions}
      noMatches={{
        title: t('No project matches'),
        text: t('To see deleted projects, filter by that status.'),
      }}
      empty={{
        icon: <IconGitBranch size={20} />,
        title: t('No projects yet'),
        text: t('Create one and push your code with git, or import a repository from an https URL.'),
      }}
    >
      <CreateProject />
    </ListPage>
  );
}

const wordOf = (status: ProjectStatus): string => STATUS[projectStatus({ status, import: null })]?.word ?? status;
