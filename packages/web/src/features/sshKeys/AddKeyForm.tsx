import { Stack } from '@mantine/core';
import { api } from '@stagi/contract/api.ts';
import { plainLine } from '@stagi/contract/plainText.ts';
import type { SshKey } from '@stagi/contract/sshKeys.ts';
import { text } from '@stagi/contract/text.ts';
import { type SyntheticEvent, useRef } from 'react';
import { useCallForm } from '../../api/useCallForm.ts';
import { useT } from '../../i18n/i18n.ts';
import { DialogButtons } from '../../ui/dialogs/DialogButtons.tsx';
import { Form } from '../../ui/form/Form.tsx';
import { Textarea } from '../../ui/form/Textarea.tsx';
import { TextInput } from '../../ui/form/TextInput.tsx';

const PRIVATE = text(
  'This is a private key. Keep it to yourself and paste the public one, from the file that ends in .pub',
);

/** Adds a public key. Its comment is the title until one is typed. */
export function AddKeyForm({ onDone, onCancel }: { onDone(key: SshKey): void; onCancel(): void }) {
  const t = useT();
  const ownTitle = useRef(false);
  const { form, field, submit, loading } = useCallForm(api.sshKeys.add, {
    initialValues: { title: '', publicKey: '' },
    onDone: ({ entity }) => onDone(entity),
  });
  const title = field('title');
  const publicKey = field('publicKey');

  function send(event: SyntheticEvent<HTMLFormElement>): void {
    if (!/PRIVATE KEY/.test(form.values.publicKey)) {
      submit(event);
      return;
    }
    event.preventDefault();
    form.setErrors({ publicKey: PRIVATE });
  }

  return (
    <Form onSubmit={send}>
      <Stack gap={16}>
        <Textarea
          label={t('Public key')}
          description={
            <>
              {t('The output of this command:')} <code className="mono">cat ~/.ssh/id_ed25519.pub</code>
            </>
          }
          placeholder="ssh-ed25519 AAAA… you@laptop"
          mono
          spellCheck={false}
          autoComplete="off"
          minRows={3}
          maxRows={8}
          data-autofocus
          {...publicKey}
          onChange={(event) => {
            publicKey.onChange(event);
            const comment = /^\S+\s+\S+\s+(\S.*)$/.exec(event.currentTarget.value.trim())?.[1];
            if (comment && !ownTitle.current) form.setFieldValue('title', plainLine(comment, 100));
          }}
        />
        <TextInput
          label={t('Title')}
          placeholder={t('Where the key is stored, such as “laptop”')}
          title={t('Where the key is stored, such as “laptop”')}
          autoComplete="off"
          limit={100}
          {...title}
          onChange={(event) => {
            ownTitle.current = event.currentTarget.value !== '';
            title.onChange(event);
          }}
        />
        <DialogButtons onCancel={onCancel} submitLabel={t('Add key')} loading={loading} testId="ssh-key-submit" />
      </Stack>
    </Form>
  );
}
