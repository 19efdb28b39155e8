import type { ReactNode } from 'react';
import { useT } from '../i18n/i18n.ts';
import { ConfirmDialog } from './dialogs/ConfirmDialog.tsx';

interface Props {
  opened: boolean;
  onClose(): void;
  onConfirm(): void;
  title: string;
  children?: ReactNode;
  /** What it is done to. */
  names: readonly string[];
  /** For the deletion of data: the person must type this word and the number of things. */
  typeWord?: string;
  confirmLabel: string;
  cancelLabel?: string;
  tone?: 'danger' | 'primary';
  loading?: boolean;
}

const LISTED = 6;

/** Asks before something is done to several things at once, and names them. */
export function ConfirmMany({ names, typeWord, children, tone = 'danger', ...dialog }: Props) {
  const t = useT();
  const more = names.length - LISTED;
  const listed = [...names.slice(0, LISTED), ...(more > 0 ? [t('and {{count}} more', { count: more })] : [])];
  return (
    <ConfirmDialog
      {...dialog}
      variant={tone === 'danger' ? 'error' : 'warning'}
      typeSlug={typeWord === undefined ? undefined : `${typeWord} ${names.length}`}
      lost={tone === 'danger' ? listed : undefined}
    >
      {children}
      {tone !== 'danger' && (
        <ul>
          {listed.map((name) => (
            <li key={name}>{name}</li>
          ))}
        </ul>
      )}
    </ConfirmDialog>
  );
}
