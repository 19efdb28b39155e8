import { api } from '@stagi/contract/api.ts';
import type { SelfHostedInstance } from '@stagi/contract/instances.ts';
import { text } from '@stagi/contract/text.ts';
import type { Verdict } from '@stagi/contract/verdict.ts';
import { IconFileCertificate, IconPencil, IconTrash } from '@tabler/icons-react';
import { useState } from 'react';
import { useLocation, useNavigate } from 'react-router';
import { call } from '../../../api/client.ts';
import { useT } from '../../../i18n/i18n.ts';
import { type RowActions, useRowActions } from '../../../lists/useRowActions.tsx';
import { paths } from '../../../paths.ts';
import { RenameInstance } from '../RenameInstance.tsx';
import { ReissueDialog } from './ReissueDialog.tsx';

/** Rename, reissue the enrolment file, delete, for self-hosted instances. */
export function useSelfHostedActions(): RowActions<SelfHostedInstance> {
  const t = useT();
  const navigate = useNavigate();
  const { pathname } = useLocation();
  const [server, setServer] = useState<SelfHostedInstance | null>(null);
  const [dialog, setDialog] = useState<'rename' | 'reissue' | null>(null);
  const close = () => setDialog(null);
  const opens = (which: 'rename' | 'reissue') => (about: SelfHostedInstance) => {
    setServer(about);
    setDialog(which);
  };

  const actions = useRowActions<SelfHostedInstance>(
    [
      { name: 'rename', label: t('Rename'), icon: IconPencil, can: exists, open: opens('rename') },
      { name: 'reissue', label: t('Reissue token'), icon: IconFileCertificate, can: exists, open: opens('reissue') },
      {
        name: 'delete',
        label: t('Delete'),
        icon: IconTrash,
        danger: true,
        can: exists,
        perform: ({ id }, options) => call(api.selfHosted.delete, { id }, options),
        confirm: ({ title, slug, status, containerCount }) => ({
          title: t('Delete “{{title}}”?', { title }),
          typeSlug: slug,
          lost:
            containerCount > 0
              ? [t('Its {{count}} containers with their files and logs', { count: containerCount })]
              : undefined,
          text:
            status === 'online'
              ? t(
                  'Containers created here are removed and its agent loses access. Everything else on the machine stays.',
                )
              : t(
                  'It cannot be reached now: containers created here are removed when it reconnects. Everything else on the machine stays.',
                ),
        }),
        success: ({ title }) => t('“{{title}}” has been deleted', { title }),
        onDone: () => {
          if (pathname !== paths.selfInstances()) void navigate(paths.selfInstances());
        },
        many: {
          confirm: (servers) => ({
            title: t('Delete {{count}} servers?', { count: servers.length }),
            text: t('Containers created here are removed and their agents lose access. Everything else stays.'),
            names: servers.map(({ title, slug }) => `${title} (${slug})`),
            typeWord: 'delete',
          }),
          success: (count) => t('{{count}} servers have been deleted', { count }),
        },
      },
    ],
    ['self-hosted-instance/', 'docker-container/'],
  );

  return {
    ...actions,
    dialog: (
      <>
        {actions.dialog}
        {server && (
          <>
            <RenameInstance edit={api.selfHosted.edit} titled={dialog === 'rename' ? server : null} onClose={close} />
            <ReissueDialog server={server} opened={dialog === 'reissue'} onClose={close} />
          </>
        )}
      </>
    ),
  };
}

function exists({ status }: SelfHostedInstance): Verdict {
  return status === 'deleted' ? { allowed: false, reason: text('This server was deleted') } : { allowed: true };
}
