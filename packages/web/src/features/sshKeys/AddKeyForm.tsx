import { Stack } from '@mantine/core';
import { api } from '@stagi/contract/api.ts';
import { plainLine } from '@stagi/contract/plainText.ts';
import { privateKeyProblem } from '@stagi/contract/privateKey.ts';
import type { SshKey } from '@stagi/contract/sshKeys.ts';
import { useRef } from 'react';
import { useCallForm } from '../../api/useCallForm.ts';
import { useT } from '../../i18n/i18n.ts';
import { DialogButtons } from '../../ui/dialogs/DialogButtons.tsx';
import { Form } from '../../ui/form/Form.tsx';
import { Textarea } from '../../ui/form/Textarea.tsx';
import { TextInput } from '../../ui/form/TextInput.tsx';

/** Adds a public key. Its comment is the title until one is typed. */
export function AddKeyForm({ onDone, onCancel }: { onDone(key: SshKey): void; onCancel(): void }) {
  const t = useT();
  const ownTitle = useRef(false);
  const { form, field, submit, loading } = useCallForm(api.sshKeys.add, {
    initialValues: { title: '', publicKey: '' },
    // Not sent, and the server would refuse it.
    alsoCheck: ({ publicKey: pasted }): Record<string, string> => {
      const problem = privateKeyProblem(pasted);
      return problem === null ? {} : { publicKey: problem };
    },
    onDone: ({ entity }) => onDone(entity),
  });
  const title = field('title');
  const publicKey = field('publicKey');

  return (
    <Form onSubmit={submit}>
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
            const pasted = event.currentTarget.value.trim();
            const comment = privateKeyProblem(pasted) === null && /^\S+\s+\S+\s+(\S.*)$/.exec(pasted)?.[1];
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
