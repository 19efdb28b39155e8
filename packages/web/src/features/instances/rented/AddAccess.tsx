import { api } from '@stagi/contract/api.ts';
import type { Verdict } from '@stagi/contract/verdict.ts';
import { IconPlus } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { invalidate, q } from '../../../api/query.ts';
import { useCall } from '../../../api/useCall.ts';
import type { SshKeyDialogSlot } from '../../../featureSlots.ts';
import { useT } from '../../../i18n/i18n.ts';
import { ActionButton } from '../../../ui/actions.tsx';
import { Button } from '../../../ui/Button.tsx';
import { Select } from '../../../ui/form/Select.tsx';
import { toast } from '../../../ui/toasts.ts';
import classes from '../Instances.module.css';

interface Props {
  instanceId: number;
  /** The ids of the keys that the server accepts already. */
  accepted: readonly number[];
  verdict: Verdict;
  SshKeyDialog: SshKeyDialogSlot;
}

/** Adds one of my keys to a server; a key made here is added at once. */
export function AddAccess({ instanceId, accepted, verdict, SshKeyDialog }: Props) {
  const t = useT();
  const [chosen, setChosen] = useState<number | null>(null);
  const [adding, setAdding] = useState(false);
  const keys = useQuery(q(api.sshKeys.list, { entityFilterRequest: { limit: 100 } }, { quiet: true }));
  const { run, loading } = useCall(api.instances.addSshKey, {
    onDone: ({ entity }) => {
      void invalidate('instance-rented/ssh-key/', 'ssh-key/');
      toast.success(t('“{{title}}” gets access as soon as the server has added it', { title: entity.title }));
      setChosen(null);
    },
  });
  const mine = (keys.data?.entities ?? []).filter(({ id }) => !accepted.includes(id));

  return (
    <div className={classes.access}>
      {mine.length > 0 && (
        <>
          <Select
            aria-label={t('SSH key')}
            placeholder={t('One of my keys')}
            options={mine.map((key) => ({ value: key.id, label: key.title }))}
            w={200}
            mayBeEmpty
            value={chosen}
            onChange={(key: number | null) => setChosen(key)}
            data-testid="access-key"
          />
          <ActionButton
            verdict={verdict.allowed && chosen === null ? { allowed: false, reason: t('Choose a key first') } : verdict}
            loading={loading}
            testId="access-add"
            onClick={() => chosen !== null && void run({ id: instanceId, sshKeyId: chosen })}
          >
            {t('Grant access')}
          </ActionButton>
        </>
      )}
      {verdict.allowed && (
        <Button
          color="gray"
          look={mine.length > 0 ? 'quiet' : 'filled'}
          icon={<IconPlus size={16} />}
          onClick={() => setAdding(true)}
          data-testid="ssh-key-add"
        >
          {t('New key')}
        </Button>
      )}
      <SshKeyDialog
        opened={adding}
        onClose={() => setAdding(false)}
        onAdded={(key) => void run({ id: instanceId, sshKeyId: key.id })}
      />
    </div>
  );
}
