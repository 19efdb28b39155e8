import { Group, Stack } from '@mantine/core';
import { api } from '@stagi/contract/api.ts';
import { apiUrl } from '../../api/client.ts';
import { useT } from '../../i18n/i18n.ts';
import { Button } from '../../ui/Button.tsx';
import { CodeBlock } from '../../ui/CodeBlock.tsx';
import { Note } from '../../ui/Note.tsx';
import { SecretFile } from '../../ui/SecretFile.tsx';
import { takeFocus } from '../../ui/takeFocus.ts';

interface Props {
  token: string;
  /** It has been downloaded or copied. */
  onSaved(): void;
  onDone(): void;
}

/** Shows a new token for the only time, with a command to try it. */
export function NewToken({ token, onSaved, onDone }: Props) {
  const t = useT();
  return (
    <Stack gap={16} ref={takeFocus} tabIndex={-1} style={{ outline: 'none' }}>
      <Note tone="warn" title={t('This token is shown only once')}>
        {t('Save it now. We do not keep it: if it is lost, archive it and create another.')}
      </Note>
      <SecretFile name="stagi-token" content={token} onTaken={onSaved} testId="token-download" />
      <div>
        <p style={{ margin: '0 0 4px' }}>{t('Send it with every API call. To test it:')}</p>
        <CodeBlock prompt="$" wrap code={tryLine()} />
      </div>
      <Group justify="flex-end">
        <Button onClick={onDone} data-testid="token-done">
          {t('Done')}
        </Button>
      </Group>
    </Stack>
  );
}

/** Reads the token from its file: a typed one would stay in the shell history. */
function tryLine(): string {
  return [
    `curl -X POST ${apiUrl(api.apiTokens.cliCheck.path)}`,
    `-H "Authorization: Bearer $(cat stagi-token)"`,
    `-H 'Content-Type: application/json' -d '{"clientVersion":"1.0.0"}'`,
  ].join(' \\\n  ');
}
