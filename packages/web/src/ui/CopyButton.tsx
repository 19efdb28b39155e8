import { CopyButton as MantineCopy } from '@mantine/core';
import { IconCheck, IconCopy } from '@tabler/icons-react';
import { useT } from '../i18n/i18n.ts';
import { IconButton } from './IconButton.tsx';
import { Tooltip } from './Tooltip.tsx';

/** Copies a text; says 'Copied' where it was pressed. */
export function CopyButton({ value, label }: { value: string; label?: string }) {
  const t = useT();
  return (
    <MantineCopy value={value} timeout={1500}>
      {({ copied, copy }) => (
        <>
          <Tooltip label={copied ? t('Copied') : (label ?? t('Copy'))} openDelay={0} keepOnPress>
            <IconButton size="xxxs" label={label ?? t('Copy')} plain onClick={copy}>
              {copied ? <IconCheck size={14} color="var(--ok)" /> : <IconCopy size={14} />}
            </IconButton>
          </Tooltip>
          <span className="visually-hidden" role="status">
            {copied && t('Copied')}
          </span>
        </>
      )}
    </MantineCopy>
  );
}
