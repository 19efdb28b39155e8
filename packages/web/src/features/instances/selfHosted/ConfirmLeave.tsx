import { useT } from '../../../i18n/i18n.ts';
import { ConfirmDialog } from '../../../ui/dialogs/ConfirmDialog.tsx';

interface Props {
  opened: boolean;
  onStay(): void;
  onLeave(): void;
}

/** Asks before the enrolment file is left while no server has joined with it. */
export function ConfirmLeave({ opened, onStay, onLeave }: Props) {
  const t = useT();
  return (
    <ConfirmDialog
      opened={opened}
      onClose={onStay}
      onConfirm={onLeave}
      title={t('The server has not joined yet')}
      confirmLabel={t('Leave')}
    >
      {t(
        'The enrolment file and the install line are shown only once. If you have not used them, create new ones with “Reissue token” on the server page.',
      )}
    </ConfirmDialog>
  );
}
