import { Group, Stack } from '@mantine/core';
import type { ReactNode } from 'react';
import { useT } from '../../../i18n/i18n.ts';
import { Button } from '../../../ui/Button.tsx';
import { Form } from '../../../ui/form/Form.tsx';
import { Textarea } from '../../../ui/form/Textarea.tsx';
import { ArchitectureFields } from './ArchitectureFields.tsx';
import { BasicFields } from './BasicFields.tsx';
import { EntryPreview } from './EntryPreview.tsx';
import type { EntryFormProps } from './entryFormProps.ts';
import { FileRows } from './FileRows.tsx';
import { SourceRows } from './SourceRows.tsx';

interface Props extends EntryFormProps {
  /** Its repository can still be chosen. */
  isNew?: boolean;
  submitLabel: string;
  /** Why it cannot be sent now. */
  reason?: string | null;
  onClose(): void;
  /** Above the fields. */
  children?: ReactNode;
}

export function EntryForm({ calls, shipped, isNew = false, submitLabel, reason, onClose, children }: Props) {
  const t = useT();
  return (
    <Form onSubmit={calls.submit}>
      <Stack gap={24}>
        {children}
        <BasicFields calls={calls} shipped={shipped} isNew={isNew} />
        <ArchitectureFields calls={calls} shipped={shipped} />
        <FileRows calls={calls} shipped={shipped} />
        <EntryPreview draft={calls.form.values} />
        <SourceRows calls={calls} />
        <Textarea
          label={t('Note')}
          optional
          minRows={2}
          description={t('For operators only.')}
          {...calls.field('note')}
        />
        <Group gap={8} justify="flex-end">
          <Button color="gray" onClick={onClose}>
            {t('Cancel')}
          </Button>
          <Button type="submit" loading={calls.loading} reason={reason} data-testid="entry-submit">
            {submitLabel}
          </Button>
        </Group>
      </Stack>
    </Form>
  );
}
