import { api } from '@stagi/contract/api.ts';
import type { SelfHostedInstance } from '@stagi/contract/instances.ts';
import { IconFileCertificate, IconPencil, IconTrash } from '@tabler/icons-react';
import { type ReactNode, useState } from 'react';
import { useLocation, useNavigate } from 'react-router';
import { invalidate } from '../../api/query.ts';
import { useCall } from '../../api/useCall.ts';
import { useT } from '../../i18n/i18n.ts';
import { text } from '../../i18n/text.ts';
import { paths } from '../../paths.ts';
import type { Action, Verdict } from '../../ui/actions.tsx';
import { ConfirmDialog } from '../../ui/dialogs/ConfirmDialog.tsx';
import { toast } from '../../ui/toasts.ts';
import { ReissueDialog } from './ReissueDialog.tsx';
import { RenameServer } from './RenameServer.tsx';

type Asked = 'rename' | 'reissue' | 'delete';

export interface ServerActions {
  of(server: SelfHostedInstance): Action[];
  /** To be drawn once on the page. */
  dialogs: ReactNode;
}

/** Rename, reissue the enrolment file, delete: for a row's menu and for the page's buttons alike. */
export function useServerActions(): ServerActions {
  const t = useT();
  const [server, setServer] = useState<SelfHostedInstance | null>(null);
  const [asked, setAsked] = useState<Asked | null>(null);
  const close = () => setAsked(null);

  function ask(what: Asked, about: SelfHostedInstance): void {
    setServer(about);
    setAsked(what);
  }

  return {
    of: (about) => {
      const verdict = serverVerdict(about);
      return [
        {
          label: t('Rename'),
          icon: <IconPencil size={16} />,
          verdict,
          testId: 'action-rename',
          onClick: () => ask('rename', about),
        },
        {
          label: t('Reissue token'),
          icon: <IconFileCertificate size={16} />,
          verdict,
          testId: 'action-reissue',
          onClick: () => ask('reissue', about),
        },
        {
          label: t('Delete'),
          icon: <IconTrash size={16} />,
          danger: true,
          verdict,
          testId: 'action-delete',
          onClick: () => ask('delete', about),
        },
      ];
    },
    dialogs: server && (
      <>
        <RenameServer server={server} opened={asked === 'rename'} onClose={close} />
        <ReissueDialog server={server} opened={asked === 'reissue'} onClose={close} />
        <DeleteServer server={server} opened={asked === 'delete'} onClose={close} />
      </>
    ),
  };
}

export function serverVerdict({ status }: SelfHostedInstance): Verdict {
  return status === 'deleted' ? { allowed: false, reason: text('This server was deleted') } : { allowed: true };
}

function DeleteServer({ server, opened, onClose }: { server: SelfHostedInstance; opened: boolean; onClose(): void }) {
  const t = useT();
  const navigate = useNavigate();
  const { pathname } = useLocation();
  const { run, loading } = useCall(api.selfHosted.delete, {
    onDone: () => {
      void invalidate('self-hosted-instance/', 'docker-container/');
      toast.success(t('“{{title}}” has been deleted', { title: server.title }));
      onClose();
      if (pathname !== paths.selfInstances()) void navigate(paths.selfInstances());
    },
  });
  const reachable = server.status === 'online';
  return (
    <ConfirmDialog
      variant="error"
      opened={opened}
      onClose={onClose}
      onConfirm={() => void run({ id: server.id })}
      title={t('Delete “{{title}}”?', { title: server.title })}
      typeSlug={server.slug}
      confirmLabel={t('Delete')}
      loading={loading}
      lost={
        server.containerCount > 0
          ? [t('Its {{count}} containers with their files and logs', { count: server.containerCount })]
          : undefined
      }
    >
      {reachable
        ? t('Our containers are removed from it and its daemon loses its key. Everything else on the machine stays.')
        : t(
            'It cannot be reached now: our containers are removed when it comes back. Everything else on the machine stays.',
          )}
    </ConfirmDialog>
  );
}
