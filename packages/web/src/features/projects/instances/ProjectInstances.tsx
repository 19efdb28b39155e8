import { api } from '@stagi/contract/api.ts';
import { projectCan } from '@stagi/contract/projectRules.ts';
import type { Project, ProjectInstance } from '@stagi/contract/projects.ts';
import { IconPlugConnectedX, IconServerBolt } from '@tabler/icons-react';
import { Link } from 'react-router';
import { call } from '../../../api/client.ts';
import { useHasPermission } from '../../../api/user.ts';
import { useProject } from '../../../featureSlots.ts';
import { useT } from '../../../i18n/i18n.ts';
import { personName } from '../../../i18n/personName.ts';
import { ListTable } from '../../../lists/ListTable.tsx';
import { useList } from '../../../lists/useList.ts';
import { useListState } from '../../../lists/useListState.ts';
import { useRowActions } from '../../../lists/useRowActions.tsx';
import { paths } from '../../../paths.ts';
import { CutText } from '../../../ui/CutText.tsx';
import { StatusBadge } from '../../../ui/StatusBadge.tsx';
import { DateTime } from '../../../ui/Time.tsx';
import { NameCell } from '../../../ui/table/NameCell.tsx';
import type { Column } from '../../../ui/table/tableTypes.ts';
import { AttachServer } from './AttachServer.tsx';

/** No event of the project announces the status of its servers. */
const REFETCH_MS = 15_000;

/** The servers that are attached to a project. */
export function ProjectInstances() {
  const t = useT();
  const project = useProject();
  const state = useListState({ sort: { field: 'attachedAt', direction: 'desc' } });
  const input = { projectRef: { id: project.id }, entityFilterRequest: state.request };
  const list = useList(api.projects.instances, input, state, REFETCH_MS);
  const serverPath = useServerPath();
  const attach = (
    <AttachServer project={project} attached={list.table.rows?.map(({ instance }) => instance.id) ?? []} />
  );
  return (
    <ListTable
      list={list}
      search={t('Search servers')}
      create={attach}
      label={t('Instances')}
      name="project-instances"
      rowTestId="project-instance-row"
      columns={columns()}
      rowKey={({ instance }) => instance.id}
      rowName={({ instance }) => instance.title}
      rowLink={({ instance }, cell) => {
        const path = serverPath(instance);
        return path === null ? <span>{cell}</span> : <Link to={path}>{cell}</Link>;
      }}
      actions={useDetach(project)}
      noMatches={{ title: t('No server matches'), text: t('Try other words.') }}
      empty={{
        icon: <IconServerBolt size={20} />,
        title: t('No servers attached'),
        text: t('Attach the rented and self-hosted servers that this project works with.'),
      }}
    />
  );

  function columns(): Column<ProjectInstance>[] {
    return [
      {
        key: 'title',
        title: t('Name'),
        sortBy: 'title',
        cell: ({ instance }) => <NameCell title={instance.title} slug={instance.slug} />,
      },
      {
        key: 'kind',
        title: t('Kind'),
        cell: ({ instance }) => (instance.kind === 'rented' ? t('Rented') : t('Self-hosted')),
      },
      { key: 'status', title: t('Status'), cell: ({ instance }) => <StatusBadge status={instance.status} /> },
      {
        key: 'attachedBy',
        title: t('Attached by'),
        cell: ({ attachedBy }) =>
          attachedBy === null ? <span className="muted">—</span> : <CutText>{personName(t, attachedBy)}</CutText>,
      },
      {
        key: 'attachedAt',
        title: t('Attached'),
        sortBy: 'attachedAt',
        align: 'right',
        cell: ({ attachedAt }) => <DateTime at={attachedAt} />,
      },
    ];
  }
}

/** The page of a server, where the person's role opens it. */
function useServerPath() {
  const mayOpen = {
    rented: useHasPermission('INSTANCE_RENTED_MANAGEMENT'),
    'self-hosted': useHasPermission('SELFHOSTED_INSTANCE_MANAGEMENT'),
  };
  return (server: ProjectInstance['instance']): string | null => (mayOpen[server.kind] ? paths.server(server) : null);
}

function useDetach(project: Project) {
  const t = useT();
  return useRowActions<ProjectInstance>(
    [
      {
        name: 'detach',
        label: t('Detach'),
        icon: IconPlugConnectedX,
        can: () => projectCan.change(project),
        perform: ({ instance: { id } }, options) =>
          call(api.projects.detachInstance, { projectRef: { id: project.id }, instanceRef: { id } }, options),
        success: ({ instance: { title } }) => t('“{{title}}” is detached. What runs on it goes on.', { title }),
        many: { success: (count) => t('{{count}} servers are detached. What runs on them goes on.', { count }) },
      },
    ],
    ['project/'],
  );
}
