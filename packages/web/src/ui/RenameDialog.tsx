import { Button, Group, Modal, Stack } from '@mantine/core';
import type { ComponentProps } from 'react';
import { useT } from '../i18n/i18n.ts';
import { TextField } from './FormField.tsx';

interface Props {
  opened: boolean;
  onClose(): void;
  /** Draws the form; it is made anew each time the dialog opens, so it begins with the title of now. */
  children: ComponentProps<typeof Modal>['children'];
}

export function RenameDialog({ opened, onClose, children }: Props) {
  const t = useT();
  return (
    <Modal opened={opened} onClose={onClose} title={t('Rename')} size={400} withCloseButton={false}>
      {children}
    </Modal>
  );
}

interface FormProps {
  field: Partial<ComponentProps<typeof TextField>>;
  loading: boolean;
  onSubmit: ComponentProps<'form'>['onSubmit'];
  onCancel(): void;
}

/** The title alone: the Unique ID stays, since addresses and scripts hang on it. */
export function RenameForm({ field, loading, onSubmit, onCancel }: FormProps) {
  const t = useT();
  return (
    <form onSubmit={onSubmit} noValidate>
      <Stack gap={16}>
        <TextField data-autofocus maxLength={100} {...field} label={t('Title')} />
        <Group justify="flex-end" gap={8}>
          <Button variant="default" onClick={onCancel}>
            {t('Cancel')}
          </Button>
          <Button type="submit" loading={loading} data-testid="rename-submit">
            {t('Save')}
          </Button>
        </Group>
      </Stack>
    </form>
  );
}
