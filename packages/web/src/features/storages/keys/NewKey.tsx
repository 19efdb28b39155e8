import { Group, Stack } from '@mantine/core';
import type { api } from '@stagi/contract/api.ts';
import type { OutputOf } from '@stagi/contract/call.ts';
import type { Storage } from '@stagi/contract/storages.ts';
import { useT } from '../../../i18n/i18n.ts';
import { Button } from '../../../ui/Button.tsx';
import { FactList } from '../../../ui/FactList.tsx';
import { Note } from '../../../ui/Note.tsx';
import { SecretFile } from '../../../ui/SecretFile.tsx';
import { takeFocus } from '../../../ui/takeFocus.ts';
import { Snippets } from '../Snippets.tsx';

export type MadeKey = OutputOf<typeof api.storages.createKey>['entity'];

interface Props {
  storage: Storage;
  made: MadeKey;
  /** It has been downloaded or copied. */
  onSaved(): void;
  onDone(): void;
}

/** Shows a new key with its secret for the only time, and how to use it. */
export function NewKey({ storage, made, onSaved, onDone }: Props) {
  const t = useT();
  const { accessKeyId, secretAccessKey } = made;
  return (
    <Stack gap={16} ref={takeFocus} tabIndex={-1} style={{ outline: 'none' }}>
      <Note tone="warn" title={t('This secret is shown only once')}>
        {t('Save it now. We do not show it again: if it is lost, revoke the key and create another.')}
      </Note>
      <FactList
        facts={[
          { label: t('Key ID'), value: accessKeyId, mono: true, copy: accessKeyId },
          {
            label: t('Secret'),
            value: <span data-testid="key-secret">{secretAccessKey}</span>,
            mono: true,
            copy: secretAccessKey,
          },
        ]}
      />
      <SecretFile
        name="credentials"
        content={`[default]\naws_access_key_id = ${accessKeyId}\naws_secret_access_key = ${secretAccessKey}\n`}
        onTaken={onSaved}
        testId="key-download"
      />
      <Snippets storage={storage} storageKey={made} />
      <Group justify="flex-end">
        <Button onClick={onDone} data-testid="key-done">
          {t('Done')}
        </Button>
      </Group>
    </Stack>
  );
}
