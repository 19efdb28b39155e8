import { Stack } from '@mantine/core';
import type { ReactNode } from 'react';
import { useT } from '../../i18n/i18n.ts';
import { Button } from '../Button.tsx';
import { Dialog, type DialogSize } from './Dialog.tsx';
import classes from './DialogButtons.module.css';
import { type Variant, VariantTitle } from './VariantTitle.tsx';

interface Props {
  opened: boolean;
  onClose(): void;
  variant: Variant;
  /** What came of it, in one sentence. */
  title: string;
  children?: ReactNode;
  closeLabel?: string;
  size?: DialogSize;
}

/** What came of something that was asked for: nothing to decide, only to be read. */
export function ResultDialog({ opened, onClose, variant, title, children, closeLabel, size = 'xs' }: Props) {
  const t = useT();
  return (
    <Dialog
      opened={opened}
      onClose={onClose}
      title={<VariantTitle variant={variant}>{title}</VariantTitle>}
      size={size}
      withClose={false}
      testId={`result-${variant}`}
    >
      <Stack gap={16}>
        {children && <div>{children}</div>}
        <div className={classes.buttons}>
          <Button color={variant === 'success' ? 'primary' : 'gray'} onClick={onClose}>
            {closeLabel ?? t('Close')}
          </Button>
        </div>
      </Stack>
    </Dialog>
  );
}
