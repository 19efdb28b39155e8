import { containerCan } from '@stagi/contract/containerRules.ts';
import { IconPlus } from '@tabler/icons-react';
import { useNavigate } from 'react-router';
import { useT } from '../../i18n/i18n.ts';
import { paths } from '../../paths.ts';
import type { Action } from '../../ui/actions.tsx';

/** The next step on the page of a server: a container on it. */
export function useCreateContainer(): (server: { id: number; status: string }) => Action {
  const t = useT();
  const navigate = useNavigate();
  return (server) => ({
    label: t('Create a container'),
    icon: <IconPlus size={16} />,
    primary: true,
    verdict: containerCan.create(server),
    testId: 'container-create',
    onClick: () => void navigate(paths.newContainer({ serverId: server.id })),
  });
}
