import { Skeleton } from '@mantine/core';
import { api } from '@stagi/contract/api.ts';
import { IconKey, IconPlus } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { errorText } from '../../api/messages.ts';
import { q } from '../../api/query.ts';
import type { SshKeyDialogSlot, SshKeySelectProps } from '../../featureSlots.ts';
import { useT } from '../../i18n/i18n.ts';
import { Button } from '../../ui/Button.tsx';
import { Select } from '../../ui/form/Select.tsx';
import { Note } from '../../ui/Note.tsx';
import classes from './Marketplace.module.css';

interface Props extends SshKeySelectProps {
  SshKeyDialog: SshKeyDialogSlot;
}

export const useSshKeys = () => useQuery(q(api.sshKeys.list, { entityFilterRequest: { limit: 100 } }, { quiet: true }));

/** The SSH key that the server will accept; a new one can be added or generated here. */
export function SshKeySelect({ value, onChange, error, form, SshKeyDialog }: Props) {
  const t = useT();
  const [adding, setAdding] = useState(false);
  const keys = useSshKeys();
  const newest = keys.data?.entities[0];
  // biome-ignore lint/correctness/useExhaustiveDependencies: a suggestion when the keys arrive, not a rule
  useEffect(() => {
    if (newest && value === '') onChange(String(newest.id));
  }, [newest?.id]);

  const add = (
    <Button color="gray" icon={<IconPlus size={16} />} onClick={() => setAdding(true)} data-testid="ssh-key-add">
      {keys.data?.totalCount === 0 ? t('Add SSH key') : t('New key')}
    </Button>
  );
  return (
    <div>
      {body()}
      <SshKeyDialog opened={adding} onClose={() => setAdding(false)} onAdded={(key) => onChange(String(key.id))} />
    </div>
  );

  function body() {
    if (keys.isPending) return <Skeleton height={60} />;
    if (keys.error && !keys.data) {
      return (
        <Note
          tone="bad"
          title={t('Your SSH keys could not be loaded')}
          action={
            <Button color="gray" size="xs" onClick={() => void keys.refetch()} loading={keys.isFetching}>
              {t('Try again')}
            </Button>
          }
        >
          {errorText(keys.error)}
        </Note>
      );
    }
    if (keys.data.totalCount === 0) {
      return (
        <Note tone={error ? 'bad' : 'info'} title={error ?? t('You have no SSH key yet')} action={add}>
          {t('You need one to log in to the server. Add your public key, or generate a new key.')}
        </Note>
      );
    }
    return (
      <div className={classes.keyLine}>
        <Select
          label={t('SSH key')}
          leftSection={<IconKey size={16} />}
          options={keys.data.entities.map((key) => ({ value: String(key.id), label: key.title }))}
          value={value}
          onChange={(id) => onChange(id ?? '')}
          form={form}
          error={error}
          className={classes.keySelect}
          data-testid="rent-ssh-key"
        />
        {add}
      </div>
    );
  }
}
