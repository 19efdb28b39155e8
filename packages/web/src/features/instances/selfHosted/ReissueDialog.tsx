import { api } from '@stagi/contract/api.ts';
import type { OutputOf } from '@stagi/contract/call.ts';
import type { SelfHostedInstance } from '@stagi/contract/instances.ts';
import { useState } from 'react';
import { invalidate } from '../../../api/query.ts';
import { useCall } from '../../../api/useCall.ts';
import { useT } from '../../../i18n/i18n.ts';
import { ConfirmDialog } from '../../../ui/dialogs/ConfirmDialog.tsx';
import { Dialog } from '../../../ui/dialogs/Dialog.tsx';
import { ConfirmLeave } from './ConfirmLeave.tsx';
import { EnrolmentStep } from './EnrolmentStep.tsx';

interface Props {
  server: SelfHostedInstance;
  opened: boolean;
  onClose(): void;
}

/** Asks first, as the old key is revoked, then shows the new enrolment file and the install command. */
export function ReissueDialog({ server, opened, onClose }: Props) {
  const t = useT();
  const [enrolment, setEnrolment] = useState<OutputOf<typeof api.selfHosted.reissueToken> | null>(null);
  const [joined, setJoined] = useState(false);
  const [leaving, setLeaving] = useState(false);
  const { run, loading } = useCall(api.selfHosted.reissueToken, {
    onDone: (answer) => {
      void invalidate('self-hosted-instance/');
      setJoined(false);
      setEnrolment(answer);
    },
  });
  const fresh = server.status === 'awaiting setup';

  function close(): void {
    setLeaving(false);
    setEnrolment(null);
    onClose();
  }

  return (
    <>
      <ConfirmDialog
        opened={opened && enrolment === null}
        onClose={onClose}
        onConfirm={() => void run({ id: server.id })}
        title={t('Create a new enrolment file for “{{title}}”?', { title: server.title })}
        confirmLabel={t('Reissue token')}
        variant={fresh ? 'warning' : 'error'}
        loading={loading}
        lost={
          fresh
            ? undefined
            : [t('The key of its agent: the server is disconnected until it joins again with the new file')]
        }
      >
        {fresh
          ? t('The previous file stops working.')
          : t('Containers on it keep running, but cannot be seen or changed until then.')}
      </ConfirmDialog>
      <Dialog
        opened={opened && enrolment !== null}
        onClose={() => (joined ? close() : setLeaving(true))}
        title={t('Join “{{title}}” again', { title: server.title })}
        size="m"
        closeOnOutside={false}
      >
        {enrolment && <EnrolmentStep enrolment={enrolment} onJoined={() => setJoined(true)} />}
      </Dialog>
      <ConfirmLeave opened={leaving} onStay={() => setLeaving(false)} onLeave={close} />
    </>
  );
}
