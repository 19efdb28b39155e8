import { api } from '@stagi/contract/api.ts';
import { CURRENCY } from '@stagi/contract/brand.ts';
import type { OutputOf } from '@stagi/contract/call.ts';
import { type Instance, instanceCan } from '@stagi/contract/instances.ts';
import { IconPlayerPlay, IconPlayerStop, IconRefresh, IconTrash } from '@tabler/icons-react';
import { call } from '../../../api/client.ts';
import { queryClient } from '../../../api/query.ts';
import { useT } from '../../../i18n/i18n.ts';
import { type RowActions, useRowActions } from '../../../lists/useRowActions.tsx';
import { formatAmount, formatNumber } from '../../../ui/format.ts';

/** Start, stop, reboot, terminate, for rented instances. */
export function useRentedActions(): RowActions<Instance> {
  const t = useT();
  const names = (instances: readonly Instance[]) => instances.map(({ title, slug }) => `${title} (${slug})`);
  const interrupted = ({ containerCount }: Instance) =>
    containerCount > 0
      ? t('Its {{count}} containers are interrupted.', { count: containerCount })
      : t('It has no containers.');

  return useRowActions<Instance>(
    [
      {
        name: 'start',
        label: t('Start'),
        icon: IconPlayerPlay,
        can: instanceCan.start,
        perform: ({ id }, options) => call(api.instances.start, { id }, options).then(showNow),
        many: { success: (count) => t('{{count}} servers are starting', { count }) },
      },
      {
        name: 'stop',
        label: t('Stop'),
        icon: IconPlayerStop,
        can: instanceCan.stop,
        perform: ({ id }, options) => call(api.instances.stop, { id }, options).then(showNow),
        confirm: (instance) => ({
          title: t('Stop “{{title}}”?', { title: instance.title }),
          text: (
            <>
              {t('Its disk is kept. While stopped it costs {{amount}} {{currency}} an hour.', {
                amount: formatAmount(instance.stoppedPricePerHour.STAGI.decimalValue),
                currency: CURRENCY,
              })}{' '}
              {instance.ip && t('Its IP address {{ip}} may be another one after the next start.', { ip: instance.ip })}{' '}
              {interrupted(instance)}
            </>
          ),
        }),
        many: {
          confirm: (instances) => ({
            title: t('Stop {{count}} servers?', { count: instances.length }),
            text: t(
              'Their disks are kept; their containers are interrupted. Their IP addresses may be others after the next start.',
            ),
            names: names(instances),
          }),
          success: (count) => t('{{count}} servers are stopping', { count }),
        },
      },
      {
        name: 'reboot',
        label: t('Reboot'),
        icon: IconRefresh,
        can: instanceCan.reboot,
        perform: ({ id }, options) => call(api.instances.reboot, { id }, options).then(showNow),
        confirm: (instance) => ({
          title: t('Reboot “{{title}}”?', { title: instance.title }),
          text: `${t('Disk and address stay as they are.')} ${interrupted(instance)}`,
        }),
        many: {
          confirm: (instances) => ({
            title: t('Reboot {{count}} servers?', { count: instances.length }),
            text: t('Disks and addresses stay as they are; their containers are interrupted.'),
            names: names(instances),
          }),
          success: (count) => t('{{count}} servers are rebooting', { count }),
        },
      },
      {
        name: 'terminate',
        label: t('Terminate'),
        icon: IconTrash,
        danger: true,
        can: instanceCan.terminate,
        perform: ({ id }, options) => call(api.instances.terminate, { id }, options).then(showNow),
        confirm: ({ title, slug, disk, containerCount, ip }) => ({
          title: t('Terminate “{{title}}”?', { title }),
          text: t('The server is returned to the provider and billing stops. This cannot be undone.'),
          typeSlug: slug,
          lost: [
            t('Everything on its {{size}} GB disk', { size: formatNumber(disk.sizeGb, 0) }),
            ...(containerCount > 0 ? [t('Its {{count}} containers', { count: containerCount })] : []),
            ...(ip ? [t('Its IP address {{ip}}', { ip })] : []),
          ],
        }),
        many: {
          confirm: (instances) => ({
            title: t('Terminate {{count}} servers?', { count: instances.length }),
            text: t('They are returned to the provider with everything on their disks. This cannot be undone.'),
            names: names(instances),
            typeWord: 'terminate',
          }),
          success: (count) => t('{{count}} servers are being terminated', { count }),
        },
      },
    ],
    ['instance-rented/', 'docker-container/', 'billing/'],
  );
}

/** Shows the status that was answered before the page of the instance reads it again. */
function showNow(answer: OutputOf<typeof api.instances.start>): void {
  queryClient.setQueryData([api.instances.view.path, { id: answer.entity.id }], answer);
}
