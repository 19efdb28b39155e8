import { Group, Stack } from '@mantine/core';
import { keyFileName, type SshKey } from '@stagi/contract/sshKeys.ts';
import { useT } from '../../i18n/i18n.ts';
import { Button } from '../../ui/Button.tsx';
import { CodeBlock } from '../../ui/CodeBlock.tsx';
import { Note } from '../../ui/Note.tsx';
import { SecretFile } from '../../ui/SecretFile.tsx';
import { takeFocus } from '../../ui/takeFocus.ts';

interface Props {
  sshKey: SshKey;
  privateKey: string;
  /** It has been downloaded or copied. */
  onSaved(): void;
  onDone(): void;
}

/** Shows the private half of a new key pair for the only time. */
export function GeneratedKey({ sshKey, privateKey, onSaved, onDone }: Props) {
  const t = useT();
  const name = keyFileName(sshKey);
  return (
    <Stack gap={16} ref={takeFocus} tabIndex={-1} style={{ outline: 'none' }}>
      <Note tone="warn" title={t('This private key is shown only once')}>
        {t('Save it now. We do not keep it: if it is lost, delete the key and generate another.')}
      </Note>
      <SecretFile name={name} content={privateKey} onTaken={onSaved} testId="private-key-download" />
      <div>
        <p style={{ margin: '0 0 4px' }}>{t('Move it to your SSH folder, readable only by you:')}</p>
        <CodeBlock
          prompt="$"
          wrap
          code={`mkdir -p ~/.ssh && mv ~/Downloads/${name} ~/.ssh/ && chmod 600 ~/.ssh/${name}`}
        />
      </div>
      <div>
        <p style={{ margin: '0 0 4px' }}>{t('Log in with it, once a server has the key:')}</p>
        <CodeBlock prompt="$" wrap code={`ssh -i ~/.ssh/${name} root@${t('your-server')}`} />
      </div>
      <Group justify="flex-end">
        <Button onClick={onDone} data-testid="private-key-done">
          {t('Done')}
        </Button>
      </Group>
    </Stack>
  );
}
