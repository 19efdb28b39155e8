import { CopyButton, Group } from '@mantine/core';
import { IconCheck, IconCopy } from '@tabler/icons-react';
import { useT } from '../i18n/i18n.ts';
import { Button } from './Button.tsx';
import { CodeBlock } from './CodeBlock.tsx';
import { Note } from './Note.tsx';
import { takeFocus } from './takeFocus.ts';

interface Props {
  link: string;
  /** A sentence on the power of the link, and on what to do if it is lost. */
  text: string;
  onDone(): void;
  testId: string;
}

/** A link that lets people in, for the only time. */
export function NewLink({ link, text, onDone, testId }: Props) {
  const t = useT();
  return (
    <div ref={takeFocus} tabIndex={-1} style={{ outline: 'none', display: 'grid', gap: 16 }}>
      <Note title={t('This link is shown only once')}>{text}</Note>
      <div data-testid={`${testId}-link`}>
        <CodeBlock code={link} wrap />
      </div>
      <Group justify="flex-end" gap={8}>
        <Button color="gray" onClick={onDone} data-testid={`${testId}-done`}>
          {t('Done')}
        </Button>
        <CopyButton value={link} timeout={1500}>
          {({ copied, copy }) => (
            <Button
              icon={copied ? <IconCheck size={16} /> : <IconCopy size={16} />}
              onClick={copy}
              data-testid={`${testId}-copy`}
            >
              {copied ? t('Copied') : t('Copy link')}
            </Button>
          )}
        </CopyButton>
      </Group>
    </div>
  );
}
