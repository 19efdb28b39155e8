import { Stack } from '@mantine/core';
import { type ReactNode, useState } from 'react';
import { useT } from '../../i18n/i18n.ts';
import { Form } from '../form/Form.tsx';
import { TextInput } from '../form/TextInput.tsx';
import classes from './ConfirmDialog.module.css';
import { Dialog, type DialogSize } from './Dialog.tsx';
import { DialogButtons } from './DialogButtons.tsx';
import { type Variant, VariantTitle } from './VariantTitle.tsx';

interface Props {
  opened: boolean;
  onClose(): void;
  onConfirm(): void;
  title: string;
  /** What is about to happen. */
  children?: ReactNode;
  /** `error` for what destroys, `warning` for what interrupts, `success` for a good end. */
  variant?: Variant;
  /** What will be gone, one line each. */
  lost?: readonly string[];
  /** Asks for this slug to be typed before the action is possible. */
  typeSlug?: string;
  confirmLabel?: string;
  cancelLabel?: string;
  size?: DialogSize;
  loading?: boolean;
}

/** Asks before an action that cannot be taken back. */
export function ConfirmDialog({ opened, onClose, title, variant = 'warning', size, ...question }: Props) {
  return (
    <Dialog
      opened={opened}
      onClose={onClose}
      title={<VariantTitle variant={variant}>{title}</VariantTitle>}
      size={size}
      withClose={false}
    >
      <Question {...question} onClose={onClose} danger={variant === 'error'} />
    </Dialog>
  );
}

type QuestionProps = Omit<Props, 'opened' | 'title' | 'variant' | 'size'> & { danger: boolean };

/** Lives only while the dialog is open, so that what was typed is gone at the next opening. */
function Question({ onClose, onConfirm, children, lost, typeSlug, confirmLabel, cancelLabel, ...rest }: QuestionProps) {
  const t = useT();
  const [typed, setTyped] = useState('');
  const ready = typeSlug === undefined || typed.trim() === typeSlug;
  return (
    <Form
      onSubmit={(event) => {
        event.preventDefault();
        if (ready && !rest.loading) onConfirm();
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
        <DialogButtons
          onCancel={onClose}
          cancelLabel={cancelLabel}
          submitLabel={confirmLabel}
          danger={rest.danger}
          disabled={!ready}
          loading={rest.loading}
          testId="confirm-submit"
        />
      </Stack>
    </Form>
  );
}
