import { IconX } from '@tabler/icons-react';
import type { ReactNode } from 'react';
import { useT } from '../i18n/i18n.ts';
import type { TAG_COLORS } from './kitConstants.ts';
import classes from './Tag.module.css';

interface Props {
  color?: (typeof TAG_COLORS)[number];
  children: ReactNode;
  /** Adds a cross that takes it away. */
  onRemove?(): void;
  /** Names the cross; 'Remove' when left out. */
  removeLabel?: string;
}

/** A short label that marks something, or a filter that can be removed. */
export function Tag({ color = 'gray', children, onRemove, removeLabel }: Props) {
  const t = useT();
  return (
    <span className={classes.tag} data-color={color}>
      <span className={classes.word}>{children}</span>
      {onRemove && (
        <button type="button" className={classes.remove} aria-label={removeLabel ?? t('Remove')} onClick={onRemove}>
          <IconX size={12} aria-hidden="true" />
        </button>
      )}
    </span>
  );
}
