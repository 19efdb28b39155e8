import { CopyButton, Group } from '@mantine/core';
import { IconCheck, IconCopy } from '@tabler/icons-react';
import { useT } from '../../i18n/i18n.ts';
import { Button } from '../../ui/Button.tsx';
import { CodeBlock } from '../../ui/CodeBlock.tsx';
import { Note } from '../../ui/Note.tsx';
import { takeFocus } from '../../ui/takeFocus.ts';

/** A join link, for the only time. */
export function NewInvite({ link, onDone }: { link: string; onDone(): void }) {
  const t = useT();
  return (
    <div ref={takeFocus} tabIndex={-1} style={{ outline: 'none', display: 'grid', gap: 16 }}>
      <Note title={t('This link is shown only once')}>
        {t('Anyone with this link can join. If it is lost, revoke it and create another.')}
      </Note>
      <div data-testid="invite-link">
        <CodeBlock code={link} wrap />
      </div>
      <Group justify="flex-end" gap={8}>
        <Button color="gray" onClick={onDone} data-testid="invite-done">
          {t('Done')}
        </Button>
        <CopyButton value={link} timeout={1500}>
          {({ copied, copy }) => (
            <Button
              icon={copied ? <IconCheck size={16} /> : <IconCopy size={16} />}
              onClick={copy}
              data-testid="invite-copy"
            >
              {copied ? t('Copied') : t('Copy link')}
            </Button>
          )}
        </CopyButton>
      </Group>
    </div>
  );
}
