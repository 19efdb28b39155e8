import { Group, Stack } from '@mantine/core';
import { api } from '@stagi/contract/api.ts';
import { SIGN_UP_LINK_USES_MAX } from '@stagi/contract/signUpLinks.ts';
import { text } from '@stagi/contract/text.ts';
import { useState } from 'react';
import { invalidate } from '../../api/query.ts';
import { useCallForm } from '../../api/useCallForm.ts';
import { useT } from '../../i18n/i18n.ts';
import { Dialog } from '../../ui/dialogs/Dialog.tsx';
import { DialogButtons } from '../../ui/dialogs/DialogButtons.tsx';
import { Form } from '../../ui/form/Form.tsx';
import { NumberInput } from '../../ui/form/NumberInput.tsx';
import { Select } from '../../ui/form/Select.tsx';
import { TextInput } from '../../ui/form/TextInput.tsx';
import { NewLink } from '../../ui/NewLink.tsx';

const LIFETIMES = [
  { value: '1', label: text('1 day') },
  { value: '7', label: text('7 days') },
  { value: '30', label: text('30 days') },
] as const;

const DAY_MS = 86_400_000;

/** Makes a sign-up link, then shows it for the only time. */
export function SignUpLinkDialog({ opened, onClose }: { opened: boolean; onClose(): void }) {
  const t = useT();
  const [link, setLink] = useState<string | null>(null);

  function close(): void {
    setLink(null);
    onClose();
  }

  return (
    <Dialog
      opened={opened}
      onClose={close}
      title={link ? t('Copy the sign-up link') : t('Create a sign-up link')}
      // A link that nobody has copied is lost: not by a press beside it.
      closeOnOutside={link === null}
      testId="sign-up-link-dialog"
    >
      {link ? (
        <NewLink
          link={link}
          text={t('Anyone with this link can sign up. If it is lost, revoke it and create another.')}
          onDone={close}
          testId="sign-up-link"
        />
      ) : (
        <Fields
          onCancel={close}
          onDone={(made) => {
            setLink(made);
            void invalidate('admin/sign-up-link/');
          }}
        />
      )}
    </Dialog>
  );
}

function Fields({ onDone, onCancel }: { onDone(link: string): void; onCancel(): void }) {
  const t = useT();
  const { field, submit, loading } = useCallForm(api.signUpLinks.create, {
    initialValues: { note: '', uses: 1 as number | string, days: '7' as string | null },
    toInput: ({ note, uses, days }) => ({
      note,
      uses: uses === '' ? undefined : uses,
      expiresAt: days === null ? undefined : new Date(Date.now() + Number(days) * DAY_MS).toISOString(),
    }),
    alsoCheck: ({ days }): Record<string, string> => (days === null ? { days: text('Please choose an option') } : {}),
    fieldOf: (path) => (path === 'expiresAt' ? 'days' : path),
    onDone: ({ link }) => onDone(link),
  });
  return (
    <Form onSubmit={submit}>
      <Stack gap={16}>
        <TextInput
          label={t('Note')}
          optional
          description={t('For operators only.')}
          data-testid="sign-up-link-note"
          {...field('note')}
        />
        <Group gap={12} align="flex-end" grow>
          <NumberInput
            label={t('Maximum uses')}
            min={1}
            max={SIGN_UP_LINK_USES_MAX}
            allowDecimal={false}
            data-testid="sign-up-link-uses"
            {...field('uses')}
          />
          <Select
            label={t('Valid for')}
            options={LIFETIMES.map(({ value, label }) => ({ value, label: t(label) }))}
            data-testid="sign-up-link-lifetime"
            {...field('days')}
          />
        </Group>
        <DialogButtons
          onCancel={onCancel}
          submitLabel={t('Create link')}
          loading={loading}
          testId="sign-up-link-submit"
        />
      </Stack>
    </Form>
  );
}
