import { api } from '@stagi/contract/api.ts';
import { containerCan } from '@stagi/contract/containerRules.ts';
import type { Container } from '@stagi/contract/containers.ts';
import { useState } from 'react';
import { useCall } from '../../api/useCall.ts';
import { useT } from '../../i18n/i18n.ts';
import { Button } from '../../ui/Button.tsx';
import { ConfirmDialog } from '../../ui/dialogs/ConfirmDialog.tsx';
import { KeptAndLost } from './KeptAndLost.tsx';
import { NOT_MINE } from './useContainerActions.tsx';
import { useContainerChange } from './useContainerChange.ts';

/** Binds the ports of a container as their visibility says, and protects it as new ones are. */
export function RecreateNow({ container }: { container: Container }) {
  const t = useT();
  const [isAsking, setAsking] = useState(false);
  const { may, change } = useContainerChange(container);
  const { run, loading } = useCall(api.containers.edit, {
    onDone: (answer) => {
      change(answer);
      setAsking(false);
    },
  });
  const verdict = containerCan.edit(container);
  const whyNot = !may ? NOT_MINE : verdict.allowed ? null : verdict.reason;
  // The change under way does it.
  if (container.pendingEdit) return null;
  return (
    <>
      <Button
        size="xs"
        color="gray"
        reason={whyNot && t(whyNot)}
        onClick={() => setAsking(true)}
        data-testid="port-recreate"
      >
        {t('Recreate now')}
      </Button>
      <ConfirmDialog
        opened={isAsking}
        onClose={() => setAsking(false)}
        onConfirm={() => void run({ ref: { id: container.id } })}
        title={t('Recreate the container now?')}
        confirmLabel={t('Recreate now')}
        loading={loading}
      >
        <KeptAndLost container={container} />
      </ConfirmDialog>
    </>
  );
}
