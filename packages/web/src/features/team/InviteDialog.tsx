import { Stack } from '@mantine/core';
import { useState } from 'react';
import { invalidate } from '../../api/query.ts';
import { useT } from '../../i18n/i18n.ts';
import { Dialog } from '../../ui/dialogs/Dialog.tsx';
import { NewLink } from '../../ui/NewLink.tsx';
import { InviteForm } from './InviteForm.tsx';

/** Makes a join link, then shows it for the only time. */
export function InviteDialog({ opened, onClose }: { opened: boolean; onClose(): void }) {
  const t = useT();
  const [link, setLink] = useState<string | null>(null);

  function close(): void {
    setLink(null);
    onClose();
  }

  return (
    <Dialog
      opened={opened}
      onClose={close}
      title={link ? t('Copy the join link') : t('Invite to the workspace')}
      // A link that nobody has copied is lost: not by a press beside it.
      closeOnOutside={link === null}
      testId="invite-dialog"
    >
      <Stack gap={16}>
        {link ? (
          <NewLink
            link={link}
            text={t('Anyone with this link can join. If it is lost, revoke it and create another.')}
            onDone={close}
            testId="invite"
          />
        ) : (
          <InviteForm
            onCancel={close}
            onDone={(made) => {
              setLink(made);
              void invalidate('client/invite/');
            }}
          />
        )}
      </Stack>
    </Dialog>
  );
}
