import { Button, Group, Modal, Stack, TextInput } from '@mantine/core';
import { type ReactNode, useState } from 'react';
import { useT } from '../i18n/i18n.ts';
import classes from './ConfirmDialog.module.css';
import { useTopmost } from './useTopmost.ts';

interface Props {
  opened: boolean;
  onClose(): void;
  onConfirm(): void;
  title: string;
  /** What is about to happen. */
  children?: ReactNode;
  /** What will be gone, one line each. */
  lost?: readonly string[];
  /** Asks for this slug to be typed before the action is possible. */
  typeSlug?: string;
  confirmLabel: string;
  tone?: 'danger' | 'primary';
  loading?: boolean;
}

/** Asks before an action that cannot be taken back. Escape and Cancel close it; focus returns by itself. */
export function ConfirmDialog(props: Props) {
  return (
    <Modal
      closeOnEscape={useTopmost(props.opened)}
      opened={props.opened}
      onClose={props.onClose}
      title={props.title}
      size={480}
      withCloseButton={false}
    >
      <Question {...props} />
    </Modal>
  );
}

/** Lives only while the dialog is open, so that what was typed is gone at the next opening. */
function Question({ onClose, onConfirm, children, lost, typeSlug, confirmLabel, tone = 'danger', loading }: Props) {
  const t = useT();
  const [typed, setTyped] = useState('');
  const ready = typeSlug === undefined || typed.trim() === typeSlug;
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        if (ready && !loading) onConfirm();
      }}
    >
      <Stack gap={16}>
        {children && <div>{children}</div>}
        {lost && lost.length > 0 && (
          <div className={classes.lost}>
            <p>{t('This will be lost:')}</p>
            <ul>
              {lost.map((line) => (
                <li key={line}>{line}</li>
              ))}
            </ul>
          </div>
        )}
        {typeSlug !== undefined && (
          <TextInput
            label={
              <>
                {t('To confirm, type')} <code className="mono">{typeSlug}</code>
              </>
            }
            value={typed}
            onChange={(event) => setTyped(event.currentTarget.value)}
            autoComplete="off"
            spellCheck={false}
            classNames={{ input: 'mono' }}
            data-autofocus
            data-testid="confirm-slug"
          />
        )}
        <Group justify="flex-end" gap={8}>
          <Button variant="default" onClick={onClose}>
            {t('Cancel')}
          </Button>
          <Button
            type="submit"
            color={tone === 'danger' ? 'red' : undefined}
            disabled={!ready}
            loading={loading}
            data-testid="confirm-submit"
          >
            {confirmLabel}
          </Button>
        </Group>
      </Stack>
    </form>
  );
}
