import { CURRENCY } from '@stagi/contract/brand.ts';
import type { Instance } from '@stagi/contract/instances.ts';
import { useT } from '../../i18n/i18n.ts';
import { ConfirmDialog } from '../../ui/dialogs/ConfirmDialog.tsx';
import { formatAmount, formatNumber } from '../../ui/format.ts';
import type { AskedAction } from './useInstanceActions.tsx';

interface Props {
  action: AskedAction;
  instance: Instance;
  opened: boolean;
  loading: boolean;
  onClose(): void;
  onConfirm(): void;
}

/** What an action interrupts or destroys, before it happens. Terminating asks for the Unique ID. */
export function ConfirmInstanceAction({ action, instance, ...dialog }: Props) {
  const t = useT();
  const { title, containerCount } = instance;
  const interrupts =
    containerCount > 0
      ? t('Its {{count}} containers are interrupted.', { count: containerCount })
      : t('It has no containers.');
  switch (action) {
    case 'stop':
      return (
        <ConfirmDialog {...dialog} title={t('Stop “{{title}}”?', { title })} confirmLabel={t('Stop')}>
          {t('Its disk is kept. While stopped it costs {{amount}} {{currency}} an hour.', {
            amount: formatAmount(instance.stoppedPricePerHour.STAGI.decimalValue),
            currency: CURRENCY,
          })}{' '}
          {interrupts}
        </ConfirmDialog>
      );
    case 'reboot':
      return (
        <ConfirmDialog {...dialog} title={t('Reboot “{{title}}”?', { title })} confirmLabel={t('Reboot')}>
          {t('Disk and address stay as they are.')} {interrupts}
        </ConfirmDialog>
      );
    case 'terminate':
      return (
        <ConfirmDialog
          {...dialog}
          variant="error"
          title={t('Terminate “{{title}}”?', { title })}
          typeSlug={instance.slug}
          confirmLabel={t('Terminate')}
          lost={[
            t('Everything on its disk of {{size}} GB', { size: formatNumber(instance.disk.sizeGb, 0) }),
            ...(containerCount > 0 ? [t('Its {{count}} containers', { count: containerCount })] : []),
            ...(instance.ip ? [t('Its address {{ip}}', { ip: instance.ip })] : []),
          ]}
        >
          {t('The server goes back to the provider and is billed no longer. This cannot be undone.')}
        </ConfirmDialog>
      );
  }
}
