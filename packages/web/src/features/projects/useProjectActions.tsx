import { api } from '@stagi/contract/api.ts';
import { projectCan } from '@stagi/contract/projectRules.ts';
import type { Project } from '@stagi/contract/projects.ts';
import { IconArchive, IconArchiveOff, IconPencil, IconTrash } from '@tabler/icons-react';
import { useState } from 'react';
import { call } from '../../api/client.ts';
import { useT } from '../../i18n/i18n.ts';
import { type RowActions, useRowActions } from '../../lists/useRowActions.tsx';
import { RenameTitle } from '../../rename/RenameTitle.tsx';
import { formatDecimalBytes } from '../../ui/format.ts';
import { DeleteProject } from './DeleteProject.tsx';

type Opened = 'rename' | 'delete';

/** Rename, archive, unarchive, delete. */
export function useProjectActions(): RowActions<Project> {
  const t = useT();
  const [opened, setOpened] = useState<{ dialog: Opened; project: Project; isOpen: boolean } | null>(null);
  const open = (dialog: Opened) => (project: Project) => setOpened({ dialog, project, isOpen: true });
  const close = () => setOpened((last) => last && { ...last, isOpen: false });
  const actions = useRowActions<Project>(
    [
      { name: 'rename', label: t('Rename'), icon: IconPencil, can: projectCan.change, open: open('rename') },
      {
        name: 'archive',
        label: t('Archive'),
        icon: IconArchive,
        shown: ({ status }) => status !== 'archived',
        can: projectCan.archive,
        perform: ({ id }, options) => call(api.projects.archive, { id }, options),
        success: ({ title }) => t('“{{title}}” is archived', { title }),
        many: { success: (count) => t('{{count}} projects are archived', { count }) },
      },
      {
        name: 'unarchive',
        label: t('Unarchive'),
        icon: IconArchiveOff,
        shown: ({ status }) => status === 'archived',
        can: projectCan.unarchive,
        perform: ({ id }, options) => call(api.projects.unarchive, { id }, options),
        success: () => t('The project is no longer archived'),
      },
      {
        name: 'delete',
        label: t('Delete'),
        icon: IconTrash,
        danger: true,
        can: projectCan.delete,
        open: open('delete'),
      },
      {
        name: 'delete-selected',
        label: t('Delete'),
        icon: IconTrash,
        danger: true,
        can: projectCan.delete,
        // A single one is deleted by the dialog that names its containers.
        shown: () => false,
        perform: ({ id, slug }, options) => call(api.projects.delete, { id, slugTyped: slug }, options),
        many: {
          confirm: (projects) => ({
            title: t('Delete {{count}} projects?', { count: projects.length }),
            text: t('Their repositories and containers are lost. Servers and storages stay. This cannot be undone.'),
            names: projects.map(
              ({ title, slug, sizeBytes, containerCount }) =>
                `${title} (${slug}): ${formatDecimalBytes(sizeBytes)}, ${t('{{count}} containers', { count: containerCount })}`,
            ),
            typeWord: 'delete',
          }),
          success: (count) => t('{{count}} projects are being deleted', { count }),
        },
      },
    ],
    ['project/', 'docker-container/'],
  );
  return {
    ...actions,
    dialog: (
      <>
        {actions.dialog}
        <RenameTitle
          edit={api.projects.edit}
          titled={of('rename')}
          shownBy={['project/']}
          namedBy={['docker-container/']}
          onClose={close}
        />
        <DeleteProject project={of('delete')} onClose={close} />
      </>
    ),
  };

  function of(dialog: Opened): Project | null {
    return opened?.isOpen && opened.dialog === dialog ? opened.project : null;
  }
}
