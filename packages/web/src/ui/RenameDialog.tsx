import { Stack } from '@mantine/core';
import type { ComponentProps, ReactNode } from 'react';
import { useT } from '../i18n/i18n.ts';
import { Dialog } from './dialogs/Dialog.tsx';
import { DialogButtons } from './dialogs/DialogButtons.tsx';
import { Form } from './form/Form.tsx';
import { TextInput, type TextInputProps } from './form/TextInput.tsx';
import { OvertakenNote } from './OvertakenNote.tsx';

interface Props {
  opened: boolean;
  onClose(): void;
  /** Draws the form; it is made anew each time the dialog opens, so it begins with the title of now. */
  children: ReactNode;
}

export function RenameDialog({ opened, onClose, children }: Props) {
  const t = useT();
  return (
    <Dialog opened={opened} onClose={onClose} title={t('Rename')} size="xs" withClose={false}>
      {children}
    </Dialog>
  );
}

interface FormProps {
  /** What the field is called, where it is no title. */
  label?: string;
  field: Partial<Omit<TextInputProps, 'label' | 'aria-label'>>;
  loading: boolean;
  /** Its Save was refused because somebody else had saved. */
  isOvertaken?: boolean;
  onSubmit: ComponentProps<'form'>['onSubmit'];
  onCancel(): void;
}

/** The title alone: the Unique ID stays, since addresses and scripts hang on it. */
export function RenameForm({ label, field, loading, isOvertaken = false, onSubmit, onCancel }: FormProps) {
  const t = useT();
  return (
    <Form onSubmit={onSubmit}>
      <Stack gap={16}>
        <TextInput data-autofocus limit={100} {...field} label={label ?? t('Title')} />
        <OvertakenNote shown={isOvertaken} />
        <DialogButtons onCancel={onCancel} submitLabel={t('Save')} loading={loading} testId="rename-submit" />
      </Stack>
    </Form>
  );
}
