import { api } from '@stagi/contract/api.ts';
import { projectCan } from '@stagi/contract/projectRules.ts';
import { IconPlus } from '@tabler/icons-react';
import { useNavigate } from 'react-router';
import { useHasPermission } from '../../api/user.ts';
import { useProject } from '../../featureSlots.ts';
import { useT } from '../../i18n/i18n.ts';
import { ListTable } from '../../lists/ListTable.tsx';
import { useList } from '../../lists/useList.ts';
import { useListState } from '../../lists/useListState.ts';
import { paths } from '../../paths.ts';
import { ActionButton } from '../../ui/actions.tsx';
import { useContainerTable } from './useContainerTable.tsx';

const REFETCH_MS = 10_000;

/** The containers of one project, on whatever server. */
export function ProjectContainers() {
  const t = useT();
  const navigate = useNavigate();
  const project = useProject();
  const state = useListState();
  const input = { projectRef: { id: project.id }, entityFilterRequest: state.request };
  const list = useList(api.containers.list, input, state, REFETCH_MS);
  const table = useContainerTable(list, { withServer: true });
  const mayCreate = useHasPermission('INSTANCE_RENTED_MANAGEMENT', 'SELFHOSTED_INSTANCE_MANAGEMENT');
  return (
    <ListTable
      label={t('Containers')}
      {...table}
      name="project-containers"
      create={
        <ActionButton
          tone="primary"
          icon={<IconPlus size={16} />}
          verdict={
            mayCreate
              ? projectCan.change(project)
              : { allowed: false, reason: t('Your role in this workspace includes no servers') }
          }
          onClick={() => void navigate(paths.newContainer({ projectId: project.id }))}
          testId="container-create"
        >
          {t('Create a container')}
        </ActionButton>
      }
    />
  );
}
