import type { Project } from '@stagi/contract/projects.ts';
import { useT } from '../../i18n/i18n.ts';
import { personName } from '../../i18n/personName.ts';
import { CutText } from '../../ui/CutText.tsx';
import { formatDecimalBytes, formatNumber } from '../../ui/format.ts';
import { projectStatus } from '../../ui/projectStatus.ts';
import { StatusBadge } from '../../ui/StatusBadge.tsx';
import { TimeAgo } from '../../ui/Time.tsx';
import { nameColumn, timeColumn } from '../../ui/table/columns.tsx';
import type { Column } from '../../ui/table/tableTypes.ts';
import classes from './Projects.module.css';

export function useProjectColumns(): Column<Project>[] {
  const t = useT();
  const count = (key: 'instanceCount' | 'containerCount' | 'taskCount', title: string): Column<Project> => ({
    key,
    title,
    align: 'right',
    card: 'hidden',
    cell: (project) => <span className="mono">{formatNumber(project[key], 0)}</span>,
  });
  return [
    nameColumn(t('Name')),
    {
      key: 'status',
      title: t('Status'),
      sortBy: 'status',
      cell: (project) => (
        <span data-testid="project-status">
          <StatusBadge status={projectStatus(project)} />
        </span>
      ),
    },
    { key: 'lastCommit', title: t('Last commit'), cell: (project) => <LastCommit of={project} /> },
    count('instanceCount', t('Instances')),
    count('containerCount', t('Containers')),
    count('taskCount', t('Tasks')),
    {
      key: 'size',
      title: t('Size'),
      sortBy: 'sizeBytes',
      align: 'right',
      cell: ({ sizeBytes }) => <span className="mono">{formatDecimalBytes(sizeBytes)}</span>,
    },
    timeColumn('createdAt', t('Created')),
    {
      key: 'createdBy',
      title: t('Created by'),
      extra: true,
      cell: ({ createdBy }) => (createdBy === null ? '—' : personName(t, createdBy)),
    },
  ];
}

function LastCommit({ of: { lastCommit } }: { of: Project }) {
  if (!lastCommit) return <span className="muted">—</span>;
  return (
    <span className={classes.commit} translate="no">
      <CutText>{lastCommit.message}</CutText>
      <span className={classes.second}>
        <span className="mono">{lastCommit.sha.slice(0, 7)}</span> · <TimeAgo at={lastCommit.at} />
      </span>
    </span>
  );
}
