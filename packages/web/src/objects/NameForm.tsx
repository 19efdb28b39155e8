import { Stack } from '@mantine/core';
import { useState } from 'react';
import { useT } from '../i18n/i18n.ts';
import { DialogButtons } from '../ui/dialogs/DialogButtons.tsx';
import { Form } from '../ui/form/Form.tsx';
import { TextInput } from '../ui/form/TextInput.tsx';

interface Props {
  initial?: string;
  submitLabel: string;
  onClose(): void;
  /** Why this name cannot be used, in words of the person; null: it can. */
  check(name: string): string | null;
  onName(name: string): Promise<void>;
  /** What a failure of `onName` says at the field; null: it is not to be expected. */
  errorText(cause: unknown): string | null;
}

/** Asks for the name of a file or folder. What refuses it is shown at the field. */
export function NameForm({ initial = '', submitLabel, onClose, check, onName, errorText }: Props) {
  const t = useT();
  const [name, setName] = useState(initial);
  const [error, setError] = useState<string | null>(null);
  const [loading, setLoading] = useState(false);

  async function submit(): Promise<void> {
    const refusal = check(name);
    if (refusal !== null) return setError(refusal);
    setLoading(true);
    try {
      await onName(name);
    } catch (cause) {
      const words = errorText(cause);
      if (words === null) throw cause;
      setError(words);
    } finally {
      setLoading(false);
    }
  }

  return (
    <Form
      onSubmit={(event) => {
        event.preventDefault();
        void submit();
      }}
    >
      <Stack gap={16}>
        <TextInput
          label={t('Name')}
          value={name}
          error={error}
          autoComplete="off"
          spellCheck={false}
          classNames={{ input: 'mono' }}
          data-autofocus
          data-testid="file-name"
          onChange={({ currentTarget }) => {
            setName(currentTarget.value);
            setError(null);
          }}
        />
        <DialogButtons onCancel={onClose} submitLabel={submitLabel} loading={loading} testId="name-submit" />
      </Stack>
    </Form>
  );
}
