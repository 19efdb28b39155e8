import { invalidate } from '../../api/query.ts';
import { useT } from '../../i18n/i18n.ts';
import { LinkDialog } from '../../ui/dialogs/LinkDialog.tsx';
import { InviteForm } from './InviteForm.tsx';

/** Makes a join link, then shows it for the only time. */
export function InviteDialog({ opened, onClose }: { opened: boolean; onClose(): void }) {
  const t = useT();
  return (
    <LinkDialog
      opened={opened}
      onClose={onClose}
      titles={{ form: t('Invite to the workspace'), link: t('Copy the join link') }}
      text={t('Anyone with this link can join. If it is lost, revoke it and create another.')}
      testId="invite"
    >
      {(onDone, onCancel) => (
        <InviteForm
          onCancel={onCancel}
          onDone={(link) => {
            onDone(link);
            void invalidate('client/invite/');
          }}
        />
      )}
    </LinkDialog>
  );
}
