import { CopyButton as MantineCopy } from '@mantine/core';
import { IconCheck, IconCopy } from '@tabler/icons-react';
import type { ReactNode } from 'react';
import { useT } from '../i18n/i18n.ts';
import { IconButton } from './IconButton.tsx';
import { Tooltip } from './Tooltip.tsx';

interface Props {
  value: string;
  label?: string;
  /** In place of the sheets, where it copies something else than what it stands beside. */
  icon?: ReactNode;
}

/** Copies a text; says 'Copied' where it was pressed. */
export function CopyButton({ value, label, icon = <IconCopy size={14} /> }: Props) {
  const t = useT();
  return (
    <MantineCopy value={value} timeout={1500}>
      {({ copied, copy }) => (
        <>
          <Tooltip label={copied ? t('Copied') : (label ?? t('Copy'))} openDelay={0} keepOnPress>
            <IconButton size="xxxs" label={label ?? t('Copy')} plain onClick={copy}>
              {copied ? <IconCheck size={14} color="var(--ok)" /> : icon}
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
