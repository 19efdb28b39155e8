import { api } from '@stagi/contract/api.ts';
import type { OutputOf } from '@stagi/contract/call.ts';
import { containerCan } from '@stagi/contract/containerRules.ts';
import type { Container } from '@stagi/contract/containers.ts';
import { canBeTemplate } from '@stagi/contract/containerTemplates.ts';
import { text } from '@stagi/contract/text.ts';
import type { Verdict } from '@stagi/contract/verdict.ts';
import {
  IconCopy,
  IconPencil,
  IconPlayerPlay,
  IconPlayerStop,
  IconRefresh,
  IconTemplate,
  IconTrash,
} from '@tabler/icons-react';
import { Suspense, useState } from 'react';
import { useNavigate } from 'react-router';
import { call } from '../../api/client.ts';
import { queryClient } from '../../api/query.ts';
import { useHasPermission } from '../../api/user.ts';
import { useT } from '../../i18n/i18n.ts';
import { lazyComponent } from '../../lazyChunks.ts';
import { type RowActions, useRowActions } from '../../lists/useRowActions.tsx';
import { paths } from '../../paths.ts';

const SaveTemplateDialog = lazyComponent(async () => (await import('./SaveTemplateDialog.tsx')).SaveTemplateDialog);

export const NOT_MINE = text('Your role in this workspace does not include servers of this kind');

/** Whether the person may manage containers on servers of this kind. */
export function useMayManage(): (container: Container) => boolean {
  const may = {
    rented: useHasPermission('INSTANCE_RENTED_MANAGEMENT'),
    'self-hosted': useHasPermission('SELFHOSTED_INSTANCE_MANAGEMENT'),
  };
  return ({ instance }) => may[instance.kind];
}

/** Start, stop, restart, edit, clone, save as template, delete. */
export function useContainerActions({ onDeleted }: { onDeleted?(): void } = {}): RowActions<Container> {
  const t = useT();
  const navigate = useNavigate();
  const mayManage = useMayManage();
  const can = (rule: (container: Container) => Verdict) => (container: Container) =>
    mayManage(container) ? rule(container) : { allowed: false as const, reason: NOT_MINE };

  const [saved, setSaved] = useState<Container | null>(null);
  const actions = useRowActions<Container>(
    [
      {
        name: 'start',
        label: t('Start'),
        icon: IconPlayerPlay,
        can: can(containerCan.start),
        perform: ({ id }, options) => call(api.containers.start, { id }, options).then(showNow),
        many: { success: (count) => t('{{count}} containers are starting', { count }) },
      },
      {
        name: 'stop',
        label: t('Stop'),
        icon: IconPlayerStop,
        can: can(containerCan.stop),
        perform: ({ id }, options) => call(api.containers.stop, { id }, options).then(showNow),
        many: { success: (count) => t('{{count}} containers are stopping', { count }) },
      },
      {
        name: 'restart',
        label: t('Restart'),
        icon: IconRefresh,
        can: can(containerCan.restart),
        perform: ({ id }, options) => call(api.containers.restart, { id }, options).then(showNow),
        many: { success: (count) => t('{{count}} containers are restarting', { count }) },
      },
      {
        name: 'edit',
        label: t('Edit'),
        icon: IconPencil,
        can: can(containerCan.edit),
        open: ({ id }) => void navigate(paths.container(id, 'edit')),
      },
      {
        name: 'clone',
        label: t('Clone'),
        icon: IconCopy,
        seldom: true,
        can: can(containerCan.clone),
        open: ({ id }) => void navigate(paths.cloneContainer(id)),
      },
      {
        name: 'template',
        label: t('Save as template'),
        icon: IconTemplate,
        seldom: true,
        can: can(canBeTemplate),
        open: setSaved,
      },
      {
        name: 'delete',
        label: t('Delete'),
        icon: IconTrash,
        danger: true,
        can: can(containerCan.delete),
        perform: ({ id }, options) => call(api.containers.delete, { id }, options),
        confirm: ({ title, slug, directoryMappings: { length: count } }) => ({
          title: t('Delete “{{title}}”?', { title }),
          text:
            count > 0
              ? t('Its {{count}} volumes stay on the server. Its logs stay readable for a while.', { count })
              : t('It has no volumes. Its logs stay readable for a while.'),
          lost: [t('All its files outside its volumes')],
          typeSlug: slug,
        }),
        onDone: onDeleted,
        many: {
          confirm: (containers) => ({
            title: t('Delete {{count}} containers?', { count: containers.length }),
            text: t('All their files outside their volumes are lost. Their logs stay readable for a while.'),
            names: containers.map(({ title, slug }) => `${title} (${slug})`),
            typeWord: 'delete',
          }),
          success: (count) => t('{{count}} containers are being deleted', { count }),
        },
      },
    ],
    ['docker-container/', 'instance-rented/', 'self-hosted-instance/'],
  );
  return {
    ...actions,
    dialog: (
      <>
        {actions.dialog}
        {saved && (
          <Suspense>
            <SaveTemplateDialog container={saved} onClose={() => setSaved(null)} />
          </Suspense>
        )}
      </>
    ),
  };
}

/** Shows the status that was answered before the page of the container reads it again. */
function showNow(answer: OutputOf<typeof api.containers.start>): void {
  queryClient.setQueryData([api.containers.view.path, { id: answer.entity.id }], answer);
}
